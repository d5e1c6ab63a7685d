package denial

import (
	"path"
	"slices"
	"strings"
)

const byHand = "; a person may run it in a terminal of their own."

// Programs that run something with the rights of another user.
var privileged = set("sudo sudo-rs sudoedit su doas pkexec run0 runuser gosu su-exec dzdo pfexec setcap nsenter visudo")

func (s *scan) privilege(name string, argv []string) {
	switch {
	case privileged[name], s.guessed(name, "sudo su doas pkexec"):
		s.deny("privilege escalation", show(argv[0])+" gives a command the rights of another user, which is never done here"+byHand)
	case name == "chmod" && setsID(argv[1:]), name == "install" && installsID(argv[1:]):
		s.deny("privilege escalation", name+" sets a setuid or setgid bit, so that the file runs with the rights of its owner"+byHand)
	case name == "systemd-run" && strings.Contains(strings.Join(argv, " "), "--uid"), name == "machinectl" && len(argv) > 1 && argv[1] == "shell":
		s.deny("privilege escalation", name+" starts a command as another user, which is never done here"+byHand)
	case listed("tee cp mv install ln sed rm visudo", name):
		for _, a := range argv[1:] {
			s.sudoers(a)
		}
	}
}

// guessed says whether a name with unknown letters in it, but at least two that are known, can be one of a list.
func (s *scan) guessed(name, list string) bool {
	if !strings.ContainsAny(name, wild) || len(strings.Trim(plain(name), wild+"*?")) < 2 || strings.ContainsAny(name, unknown+network+star) && len(name) < 4 {
		return false
	}
	for n := range strings.FieldsSeq(list) {
		if fits(name, n) {
			return true
		}
	}
	return false
}

func (s *scan) sudoers(file string) {
	if p := resolve(s.cwd(), file); p == "/etc/sudoers" || strings.HasPrefix(p, "/etc/sudoers.d/") {
		s.deny("privilege escalation", show(file)+" says who may become root, and it is never changed here"+byHand)
	}
}

// setsID looks for u+s, g+s, +s and for four octal digits that start with 2, 4 or 6.
func setsID(args []string) bool {
	for _, a := range args {
		for mode := range strings.SplitSeq(a, ",") {
			who, what, ok := strings.Cut(mode, "+")
			if !ok {
				who, what, ok = strings.Cut(mode, "=")
			}
			if ok && strings.Trim(who, "ugoa") == "" && strings.Contains(what, "s") && strings.Trim(what, "rwxXst") == "" {
				return true
			}
		}
		digits := strings.TrimLeft(a, "0")
		if len(digits) == 4 && strings.Trim(digits, "01234567") == "" && strings.ContainsAny(digits[:1], "24675") && len(a) < 6 {
			return true
		}
	}
	return false
}

func installsID(args []string) bool {
	mode, ok := optionText(args, "-m", "--mode")
	return ok && setsID([]string{mode})
}

// Programs that write to the device which they are given, whatever else they say; with -l and the like some only list.
var formatters = set("wipefs blkdiscard shred sgdisk sfdisk fdisk gdisk cfdisk parted mkswap newfs pvcreate pvremove vgremove badblocks wipe scrub ddrescue dcfldd partclone flashrom truncate mkntfs mkdosfs mkexfatfs mkudffs mkreiserfs mkvfat")

const (
	tables  = "fdisk gdisk sfdisk sgdisk cfdisk parted" // these also list
	listing = "-l --list -p --print print -i --info -v --verify -d --dump"
)

func (s *scan) disk(name string, argv []string) {
	args := argv[1:]
	if !strings.HasPrefix(s.cwd(), "/dev") && !slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "dev") || strings.Contains(a, "disk") }) {
		return
	}
	what := show(name)
	for i, a := range args {
		k, v, ok := strings.Cut(a, "=")
		switch {
		case ok && (k == "of" || k == "--output" || k == "--output-document"):
			s.device(v, what)
		case i > 0 && listed("-o -O --output --output-document", args[i-1]):
			s.device(a, what)
		case strings.HasPrefix(a, "-o/dev/"):
			s.device(a[2:], what)
		}
	}
	if name == "wipefs" && !strings.Contains(strings.Join(args, " "), "-a") && !strings.Contains(strings.Join(args, " "), "-o") {
		return // it only lists
	}
	writes := formatters[name] || strings.HasPrefix(name, "mkfs") || strings.HasPrefix(name, "mke2fs") || strings.HasPrefix(name, "newfs_")
	for _, a := range args {
		if writes && (listed("-V --version --help", a) || listed(tables, name) && listed(listing, a) || listed("-n --no-act", a) && name != "shred") {
			return
		}
	}
	switch {
	case writes, name == "tee":
	case listed("cp mv install dd rsync pv ln", name) && len(args) > 1:
		args = args[len(args)-1:]
	case name == "nvme" && len(args) > 1 && listed("format sanitize write write-zeroes write-uncor dsm delete-ns", args[0]),
		name == "cryptsetup" && strings.Contains(strings.ToLower(strings.Join(args, " ")), "luksformat"),
		name == "cryptsetup" && len(args) > 0 && listed("erase luksErase reencrypt plainOpen", args[0]),
		name == "mdadm" && (listed(strings.Join(args, " "), "--create") || listed(strings.Join(args, " "), "--zero-superblock")),
		name == "zpool" && len(args) > 0 && listed("create destroy labelclear", args[0]),
		name == "hdparm" && strings.Contains(strings.Join(args, " "), "--security-erase"),
		name == "diskutil" && len(args) > 0 && listed("erasedisk erasevolume partitiondisk zerodisk randomdisk secureerase reformat", strings.ToLower(args[0])),
		name == "asr" && strings.Contains(strings.Join(args, " "), "--erase"):
	default:
		return
	}
	for _, a := range args {
		s.device(a, what)
		if name == "diskutil" && strings.HasPrefix(a, "disk") {
			s.device("/dev/"+a, what)
		}
	}
}

// Block devices and memory, by the start of their name below /dev.
var devices = []string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "mapper/", "dm-", "md", "disk", "rdisk", "nbd", "zd", "zvol/", "bcache", "drbd", "sr", "mem", "kmem", "port", "mtdblock", "mtd", "fio", "ram", "loop", "pmem", "vg"}

// device denies a write to a file if it is a block device.
func (s *scan) device(file, what string) {
	p := resolve(s.cwd(), file)
	below, ok := strings.CutPrefix(p, "/dev/")
	if !ok || strings.HasPrefix(below, "stdin") || strings.HasPrefix(below, "stdout") {
		return
	}
	for _, d := range devices {
		if rest, ok := strings.CutPrefix(below, d); ok && (strings.HasSuffix(d, "/") || d == "mem" || d == "kmem" || d == "port" || len(rest) <= 12 && rest != "") {
			s.deny("raw disk write", what+" writes to the device "+show(p)+" past every file system, and what was there is lost"+byHand)
			return
		}
	}
}

// Directories that the system can't be without. A star stands for everything in one.
var systemDirs = strings.Fields("/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /libx32 /media /mnt /opt /proc /root /run /sbin /srv /sys /usr /var " +
	"/Applications /Library /System /Users /Volumes /private /cores /private/etc /private/var /nix /nix/store /snap /data " +
	"/usr/bin /usr/sbin /usr/lib /usr/lib32 /usr/lib64 /usr/libexec /usr/share /usr/local /usr/include /usr/src /usr/local/bin /usr/local/lib /usr/local/sbin /usr/local/share " +
	"/var/lib /var/log /var/spool /var/mail /var/db /var/cache /var/lib/dpkg /var/lib/docker /etc/ssh /etc/ssl /etc/systemd /etc/pam.d /etc/apt /boot/efi /boot/grub /lib/modules")

// vital says whether a path, as seen from any place where the shell may be, is a system or home directory, or all in one;
// with onlyAll just the latter.
func (s *scan) vital(word string, onlyAll bool) bool {
	for _, cwd := range s.cwds {
		p := resolve(cwd, word)
		if p == "" || p != s.env.Dir && strings.HasPrefix(p, s.env.Dir+"/") && s.env.Dir != "/" {
			continue
		}
		whole := p
		for base := path.Base(whole); base != "/" && (strings.Trim(base, star+one+".") == "" || path.Dir(whole) == "/" && strings.Trim(base, wild) == ""); base = path.Base(whole) {
			whole = path.Dir(whole) // /etc/* and /etc/.* are all of /etc
		}
		if onlyAll && whole == p {
			continue
		}
		if whole == s.env.Dir && whole != p {
			continue // rm -rf * in the directory itself
		}
		if whole == s.env.Home || path.Dir(whole) == "/home" || path.Dir(whole) == "/Users" && whole != "/Users/Shared" {
			return true
		}
		for _, d := range systemDirs {
			if whole == d || strings.ContainsAny(whole, star+one) && fits(whole, d) {
				return true
			}
		}
	}
	return false
}

func (s *scan) deletion(name string, argv []string) {
	args := argv[1:]
	var targets []string
	onlyAll := false
	has := func(prefix string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, prefix) })
	}
	switch name {
	case "rm", "grm", "srm", "rimraf":
		onlyAll = name != "rimraf" && !recursive(args, "rR")
		targets = operandsOf(args)
	case "find", "gfind", "bfs", "fd":
		targets = s.findDeletes(args)
	case "mv":
		if targets = operandsOf(args); len(targets) > 0 && !has("-t") && !has("--target") {
			targets = targets[:len(targets)-1]
		}
	case "rsync":
		if targets = operandsOf(args); !has("--del") || len(targets) == 0 {
			return
		}
		targets = targets[len(targets)-1:]
	case "chmod", "chown", "chgrp":
		if !recursive(args, "R") || len(operandsOf(args)) < 2 {
			return
		}
		for _, t := range operandsOf(args)[1:] {
			if resolve(s.cwd(), t) != s.env.Home {
				targets = append(targets, t)
			}
		}
	}
	for _, t := range targets {
		if s.vital(t, onlyAll) {
			s.deny("system deletion", show(strings.Join(argv, " "))+" would destroy "+show(t)+", a system or home directory"+byHand)
		}
	}
}

// recursive says whether one of the short options, perhaps in a bundle, or --recursive, perhaps shortened, is given.
func recursive(args []string, letters string) bool {
	for _, a := range args {
		if strings.HasPrefix(a, "--") {
			if len(a) > 4 && strings.HasPrefix("--recursive", a) {
				return true
			}
			continue
		}
		if strings.HasPrefix(a, "-") && strings.ContainsAny(a, letters) {
			return true
		}
	}
	return false
}

// operandsOf returns the words that are no options.
func operandsOf(args []string) (out []string) {
	for i, a := range args {
		if a == "--" {
			return append(out, args[i+1:]...)
		}
		if !strings.HasPrefix(a, "-") || a == "-" {
			out = append(out, a)
		}
	}
	return out
}

// findDeletes judges what find runs and returns the roots below which it deletes everything, not just what fits a test.
func (s *scan) findDeletes(args []string) (roots []string) {
	deletes, narrow := false, false
	inTests := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case listed("-exec -execdir -ok -okdir -x -X --exec --exec-batch", a):
			end := i + 1
			for end < len(args) && args[end] != ";" && args[end] != "+" {
				end++
			}
			ran := args[i+1 : end]
			deletes = deletes || len(ran) > 0 && listed("rm shred unlink srm rmdir", path.Base(ran[0]))
			s.call(ran, flow{})
			i, inTests = end, true
		case a == "-delete":
			deletes, inTests = true, true
		case listed("-type -maxdepth -mindepth", a):
			i, inTests = i+1, true
		case listed("-print -print0 -depth -xdev -mount -ls -H -L -P", a), strings.Trim(a, "()!,") == "":
			inTests = inTests || listed("-print -print0 -depth -xdev -mount -ls", a)
		case listed("-name -path -wholename -iname", a) && i+1 < len(args) && strings.Trim(args[i+1], "*./") == "":
			i, inTests = i+1, true
		case strings.HasPrefix(a, "-"):
			narrow, inTests = narrow || !deletes, true
		case !inTests:
			roots = append(roots, a)
		}
	}
	if len(roots) == 0 {
		roots = []string{"."}
	}
	s.found = ""
	if !narrow {
		s.found = strings.Join(roots, "/"+star+" ") + "/" + star
	}
	if !deletes || narrow {
		return nil
	}
	return roots
}
