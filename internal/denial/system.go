package denial

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
)

const byHand = "; a person may run it in a terminal of their own."

// setID are the modes that set a setuid or setgid bit: u+s, g=rs, +s, and four octal digits that start with 2 or 4 to 7.
var setID = regexp.MustCompile(`^0*[24567][0-7]{3}$|(?:^|,)[ugoa]*[+=][rwxXt]*s[rwxXst]*(?:,|$)`)

func (s *scan) privilege(name string, argv []string) {
	_, values, _ := strings.Cut(fact("wrap", name), " ")
	options := argv[1 : len(argv)-max(0, len(pastOptions(argv[1:], values))-1)] // and one operand
	as := func(a string) bool {
		long, _, _ := strings.Cut(a, "=")
		root := name == "unshare" && strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "r")
		return root || is("privilege", name+"+"+long)
	}
	switch modes := optionTexts(argv[1:], "-m", "--mode"); {
	case is("privilege", name), guessed(name, "sudo su doas pkexec"), slices.ContainsFunc(options, as):
		s.deny("privilege escalation", show(argv[0])+" gives a command the rights of another user, which is never done here"+byHand)
	case name == "install" && slices.ContainsFunc(modes, setID.MatchString), name == "chmod" && slices.ContainsFunc(argv[1:], setID.MatchString):
		s.deny("privilege escalation", name+" sets a setuid or setgid bit, so that the file runs with the rights of its owner"+byHand)
	}
}

// guessed says whether a name with unknown letters in it, but at least two that are known, can be one of a list.
func guessed(name, list string) bool {
	if len(strings.Trim(name, wild)) < 2 || strings.ContainsAny(name, unknown+network+"*") && len(name) < 4 {
		return false
	}
	return strings.ContainsAny(name, wild) && slices.ContainsFunc(strings.Fields(list), func(n string) bool { return fits(name, n) })
}

// variants are the names of mkfs and newfs with the file system behind.
var variants = regexp.MustCompile(`^(mkfs|mke2fs|newfs|partclone)[._].*`)

// disk finds writes to devices, by programs that are made for it and by any program's output.
func (s *scan) disk(name string, args []string) {
	if !is("pattern", name) {
		for _, file := range optionTexts(args, "-o", "-O", "--output", "--output-document", "of=") {
			s.overwrites(file, name)
		}
	}
	if name = variants.ReplaceAllString(name, "$1"); listed("tar bsdtar", name) && len(args) > 0 && !strings.HasPrefix(args[0], "-") { // cf is -cf
		args = append([]string{"-" + args[0]}, args[1:]...)
	}
	has := func(list string) bool {
		return slices.ContainsFunc(args, func(a string) bool {
			letter := func(c rune) bool { return listed(list, "-"+string(c)) }
			return listed(list, strings.ToLower(a)) || len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.ContainsFunc(a[1:], letter)
		})
	}
	switch words := fact("disk", name); {
	case is("last", name) && len(args) > 1 && (fact("last", name) == "" || has(fact("last", name))):
		args = args[len(args)-1:]
	case !is("disk", name), words != "" && !has(words), has(fact("look", name)):
		return
	}
	for _, a := range args {
		switch {
		case name == "diskutil": // takes disk2
			a = "/dev/" + path.Base(a)
		case is("volume", name) && !strings.HasPrefix(a, "-"):
			a = "/dev/mapper/" + a
		}
		s.overwrites(a, name)
		if _, v, ok := strings.Cut(a, "="); ok {
			s.overwrites(v, name)
		}
	}
}

// blockDevice matches block devices and memory.
var blockDevice = regexp.MustCompile(`^/dev/(?:(?:sd|hd|vd|xvd|nvme|mmcblk|dm-|md|r?disk|nbd|zd|bcache|drbd|sr|mtd|mtdblock|fio|ram|loop|pmem|vg).{1,12}|(?:mapper|zvol|disk)/.*|k?mem|port|(?:a?da|nvd|vtbd|wd)\d.*|[\x04\x05]+)$`)

// Overwrites says why a file (absolute, clean) is never written by what: it is a block device, or says who may become root.
func Overwrites(file, what string) *Denial {
	switch {
	case blockDevice.MatchString(file):
		return &Denial{"raw disk write", what + " writes to the device " + show(file) + " past every file system, and what was there is lost" + byHand}
	case file == "/etc/sudoers", strings.HasPrefix(file, "/etc/sudoers.d/"):
		return &Denial{"privilege escalation", show(file) + " says who may become root, and it is never changed here" + byHand}
	}
	return nil
}

func (s *scan) overwrites(file, what string) {
	if d := Overwrites(resolve(s.cwd(), file), show(what)); d != nil {
		s.deny(d.Rule, d.Reason)
	}
}

// vital says whether a path, as seen from any place where the shell may be, is a system or home directory, or all in one;
// with onlyAll just the latter. Where a variable in front may be empty, it is nothing.
func (s *scan) vital(word string, onlyAll bool) bool {
	if strings.HasPrefix(word, unset+"/") {
		word = word[len(unset):]
	}
	return slices.ContainsFunc(s.cwds(), func(cwd expand.Variable) bool {
		p := resolve(cwd.Str, word)
		whole := p // /etc/* and /etc/.* are all of /etc
		for base := path.Base(whole); p != "" && base != "/" && (strings.Trim(base, "*?.") == "" || path.Dir(whole) == "/" && strings.Trim(base, wild) == ""); base = path.Base(whole) {
			whole = path.Dir(whole)
		}
		return p != "" && !(whole == p && onlyAll) && s.env.Vital(whole, whole == p)
	})
}

// Vital says whether a directory is one of the system, a home, or holds the user's. The one that commands start in may be
// emptied, if it is nobody's home, but not removed as itself. dir may have wildcards.
func (e Env) Vital(dir string, itself bool) bool {
	others := path.Dir(dir) == "/home" || path.Dir(dir) == "/Users" && dir != "/Users/Shared"
	is := func(d string) bool {
		return dir == d && (itself || dir != e.Dir) || strings.ContainsAny(dir, "*?[") && fits(dir, d)
	}
	return strings.HasPrefix(e.Home+"/", dir+"/") || others && (itself || dir != e.Dir) || slices.ContainsFunc(strings.Fields(table()["dirs"]), is)
}

// mostSets are bracket expressions that most names fit.
var mostSets = regexp.MustCompile(`\[(?:[!^]|[^]]-)[^]]*\]`)

// destroy denies a command if it would destroy a system or home directory. Whether a link leads to one is told by the disk:
// a link itself may go unless the command follows it, but not what is behind link/ and link/*.
func (s *scan) destroy(argv, targets []string, onlyAll, follow bool) {
	for _, t := range targets {
		t = mostSets.ReplaceAllString(t, "?")
		if s.vital(t, onlyAll) {
			s.deny("system deletion", show(strings.Join(argv, " "))+" would destroy "+show(t)+", a system or home directory"+byHand)
		}
		switch dir, base := path.Split(t); {
		case base != ".." && strings.Trim(base, "*?.") == "":
			s.note(&s.Doomed, dir+".")
		case onlyAll:
		case follow:
			s.note(&s.Doomed, t+"/.")
		default:
			s.note(&s.Doomed, t)
		}
	}
}

// deletion judges what deletes, moves away or takes over directories; for find see below.
func (s *scan) deletion(name string, argv []string) {
	args, targets := argv[1:], operandsOf(argv[1:])
	has := func(prefix string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, prefix) })
	}
	switch n := len(targets); {
	case listed("rm grm srm rimraf shred unlink", name), strings.Trim(name, wild) != "" && strings.ContainsAny(name, wild) && fits(name, "rm"):
		s.destroy(argv, targets, name != "rimraf" && !recursive(args, "rR"), false)
	case n == 0:
	case name == "mv" && (has("-t") || has("--target")):
		s.destroy(argv, targets, false, false)
	case name == "mv":
		s.destroy(argv, targets[:n-1], false, false)
	case name == "rsync" && has("--del"):
		s.destroy(argv, targets[n-1:], false, true)
	case name == "git" && slices.Contains(targets, "clean") && (recursive(args, "f") || has("--force")) && !recursive(args, "n"):
		dir, _ := optionText(args, "-C", "--work-tree")
		clean := targets[slices.Index(targets, "clean")+1:]
		if len(clean) == 0 {
			clean = []string{"*"}
		}
		for _, t := range clean {
			s.destroy(argv, []string{cmp.Or(dir, ".") + "/" + t}, false, false)
		}
	case listed("chmod chown chgrp", name) && recursive(args, "R"):
		mode := targets[0]
		if !has("--ref") && !slices.ContainsFunc(args, lessMode.MatchString) { // else the first says how
			targets = targets[1:]
		}
		mends := func(t string) bool {
			return resolve(s.cwd(), t) == s.env.Home && (name != "chmod" || !harms.MatchString(mode))
		}
		s.destroy(argv, slices.DeleteFunc(targets, mends), false, name == "chmod")
	}
}

// harms are modes that open a home to everybody or close it to its owner, lessMode such as look like options.
var (
	harms    = regexp.MustCompile(`^[0-7]*[2367]$|^0+$|(^|,)[ug]*[ao][ugoa]*[+=][rxXst]*w`)
	lessMode = regexp.MustCompile(`^-[rwxXst]+$`)
)

// recursive says whether one of the short options, perhaps in a bundle, or --recursive, perhaps shortened, is given.
func recursive(args []string, letters string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		long := strings.HasPrefix(a, "--")
		return long && len(a) > 4 && strings.HasPrefix("--recursive", a) || !long && strings.HasPrefix(a, "-") && strings.ContainsAny(a, letters)
	})
}

func isFind(name string) bool { return listed("find gfind bfs fd", name) }

// find judges what find runs and deletes, and returns the names that it puts out. Below a root it deletes everything only
// if no test stands before that narrows it.
func (s *scan) find(args []string) flow {
	var roots, names []string
	deletes, reads, narrow, inTests, follows, not := false, false, false, false, false, false
	for rest := append(slices.Clip(args), ";"); len(rest) > 1; {
		a, next := rest[0], rest[1]
		rest = rest[1:]
		tests := strings.HasPrefix(a, "-") && !listed("-H -L -P -follow", a)
		inTests = inTests || tests
		switch {
		case listed("-exec -execdir -ok -okdir -x -X --exec --exec-batch", a):
			end := slices.IndexFunc(rest, func(w string) bool { return w == ";" || w == "+" })
			program := path.Base(next)
			deletes = deletes || listed("rm shred unlink srm rmdir", program)
			reads = reads || !showsNames(program)
			s.call(rest[:end], flow{})
			rest = rest[end:]
		case a == "-delete":
			deletes = true
		case listed("-name -iname -path -ipath -wholename", a):
			if !not {
				names = append(names, next)
			}
			narrow = narrow || !deletes && strings.Trim(next, "*./") != ""
			rest = rest[1:]
		case listed("-type -maxdepth -mindepth", a):
			rest = rest[1:]
		case listed("-H -L -follow", a):
			follows = true
		case tests && !listed("-print -print0 -depth -xdev -mount -ls -not", a):
			narrow = narrow || !deletes
		case !inTests && strings.Trim(a, "()!,;+") != "" && a != "-P":
			roots = append(roots, a)
		}
		not = a == "!" || a == "-not"
	}
	if len(roots) == 0 {
		roots = []string{"."}
	}
	if reads {
		for _, n := range append(names, roots...) {
			s.named(n)
		}
	}
	if deletes && !narrow {
		if follows { // also the links in them
			for _, r := range roots {
				roots = append(roots, r+"/*/.")
			}
		}
		s.destroy(append([]string{"find"}, args...), roots, false, follows)
	}
	switch {
	case len(names) > 0:
		return flow{text: strings.Join(names, " ")}
	case narrow:
		return flow{}
	}
	return flow{text: strings.Join(roots, "/* ") + "/*"}
}
