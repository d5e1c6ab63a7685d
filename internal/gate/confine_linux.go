package gate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/landlock-lsm/go-landlock/landlock"
	kernel "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// A command that runs unasked is started by a thread that has taken rights from itself with Landlock, which hands them down
// to what it starts and then ends. What the command may do: read and run what lies in the system's folders and in those of
// the programs on PATH, read the directory, the repository and the user's git settings, write to /dev/null. It may not
// write, nor run what lies in the directory, nor use TCP, nor signal or look into processes other than its own. If a right
// can't be taken, the command does not start.

// leastABI is the first version of Landlock that can forbid truncation.
const leastABI = 3

// grants are the paths that a confined command may use: Run to read and run, Read to read.
type grants struct{ run, read []string }

// landlockABI is the kernel's version of Landlock, or below 1.
func landlockABI() int {
	abi, err := kernel.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return abi
}

// Confinement says what confines commands that run unasked on this system.
func Confinement() string {
	abi := landlockABI()
	if abi < leastABI {
		return "none: this kernel has no Landlock, or one that can't forbid every write"
	}
	tcp := "no TCP, "
	if abi < 4 {
		tcp = ""
	}
	return fmt.Sprintf("Landlock ABI %d: no writes, %sreads limited to the directory, the system and the programs on PATH", abi, tcp)
}

// confined calls start on a thread without rights. Where the kernel can't take them, it calls start as it is.
func confined(g grants, start func() error) error {
	if landlockABI() < leastABI {
		return start()
	}
	done := make(chan error, 1)
	go onThread(func() {
		err := takeRights(g)
		if err != nil {
			err = fmt.Errorf("%w: %w", errConfine, err)
		} else {
			err = start()
		}
		done <- err
	})
	return <-done
}

// onThread runs f on a thread of its own, which ends with it, since it stays locked to the goroutine. The main thread can't end, so
// it is not used.
func onThread(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		onThread(f)
	}()
	<-done
	runtime.UnlockOSThread()
}

// takeRights takes from the calling thread, for good, all rights but those of g. As root it also loses root's powers, but for
// reading files of others: with them, the environment of other processes could be read in spite of Landlock.
func takeRights(g grants) error {
	versions := []landlock.Config{landlock.V3, landlock.V4, landlock.V5, landlock.V6, landlock.V7, landlock.V8, landlock.V9, landlock.V10, landlock.V11}
	const read = landlock.AccessFSSet(kernel.AccessFSReadFile | kernel.AccessFSReadDir)
	rules := []landlock.Rule{landlock.PathAccess(kernel.AccessFSReadFile|kernel.AccessFSWriteFile, os.DevNull)}
	for _, dir := range g.run {
		rules = append(rules, access(read|kernel.AccessFSExecute, dir))
	}
	for _, dir := range g.read {
		rules = append(rules, access(read, dir))
	}
	fd, flags, err := versions[min(landlockABI()-leastABI, len(versions)-1)].NewRulesetFD(rules...)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for c := uintptr(0); c < 64; c++ {
		if c != unix.CAP_DAC_OVERRIDE && c != unix.CAP_DAC_READ_SEARCH {
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // fails for who has no powers anyway
		}
	}
	return errors.Join(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), kernel.LandlockRestrictSelf(fd, flags))
}

// access grants rights below a path; a file has no directory rights.
func access(rights landlock.AccessFSSet, path string) landlock.Rule {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		rights &^= kernel.AccessFSReadDir
	}
	return landlock.PathAccess(rights, path).IgnoreIfMissing()
}

// confinedGrants are the paths of a confined command that names some programs, which may be links to elsewhere.
func (s *shared) confinedGrants(programs []string) grants {
	g := grants{
		run: []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/run/current-system", "/snap"},
		read: []string{s.dir, "/etc", "/proc", "/sys", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
			filepath.Join(s.o.Home, ".gitconfig"), filepath.Join(s.o.Home, ".config/git/config"),
			filepath.Join(s.o.Home, ".config/git/ignore"), filepath.Join(s.o.Home, ".config/git/attributes")},
	}
	for _, entry := range s.cleanPath() {
		if dir := resolved(entry); !s.aboveHome(dir) {
			g.run = append(g.run, s.toolchain(dir))
		}
	}
	for _, name := range programs {
		file := lookPath(name, s.cleanPath())
		if file == "" { // a part of bash
			continue
		}
		file = resolved(file)
		if dir := filepath.Dir(file); !s.aboveHome(dir) {
			file = s.toolchain(dir)
		}
		g.run = append(g.run, file)
	}
	g.read = append(g.read, s.gitReads()...)
	return g
}

// toolchain is the folder that a folder of programs belongs to: ~/sdk/go1.26/bin to ~/sdk/go1.26. Where that would be one
// that holds more than a toolchain, it is the folder itself.
func (s *shared) toolchain(dir string) string {
	up := filepath.Dir(dir)
	name := filepath.Base(dir)
	if name != "bin" && name != "shims" && name != "sbin" || s.aboveHome(up) ||
		up == filepath.Join(s.o.Home, ".local") || up == filepath.Join(s.o.Home, ".cargo") {
		return dir
	}
	return up
}

// aboveHome says whether a folder is the home directory or one that it lies in.
func (s *shared) aboveHome(dir string) bool {
	_, above := below(resolved(s.o.Home), dir)
	return above
}
