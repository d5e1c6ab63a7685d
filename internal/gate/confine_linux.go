package gate

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock"
	kernel "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// A command that runs unasked is started by a thread that has taken rights from itself with Landlock, which hands them down to what it
// starts and then ends. What the command may do: read and run what lies in the system's folders and in those of the programs on PATH,
// read the directory, the repository and the user's git settings, write to /dev/null. It may not write, nor run what lies in the
// directory, nor use TCP, nor signal or look into processes other than its own. If a right can't be taken, the command does not start.

// leastABI is the first version of Landlock that can forbid truncation.
const leastABI = 3

// grants are the paths that a confined command may use: Run to read and run, Read to read.
type grants struct{ run, read []string }

// Confinement says what confines commands that run unasked on this system.
func Confinement() string {
	abi, _ := kernel.LandlockGetABIVersion()
	tcp := "no TCP, "
	if abi < leastABI {
		return "none: this kernel has no Landlock, or one that can't forbid every write"
	}
	if abi < 4 {
		tcp = ""
	}
	return fmt.Sprintf("Landlock ABI %d: no writes, %sreads limited to the directory, the system and the programs on PATH", abi, tcp)
}

// hide keeps other processes of the user from anchor's own environment and memory. What anchor starts is not hidden.
func hide() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// confined calls start on a thread without rights. Where the kernel can't take them, it calls start as it is.
func confined(g grants, start func() error) error {
	if abi, _ := kernel.LandlockGetABIVersion(); abi < leastABI {
		return start()
	}
	return onThread(func() error {
		if err := takeRights(g); err != nil {
			return fmt.Errorf("%w: %w", errConfine, err)
		}
		return start()
	})
}

// onThread runs f on a thread that ends with it, since it stays locked to the goroutine. The main one can't: it is held while another works.
func onThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != unix.Getpid() {
			done <- f()
			return
		}
		defer runtime.UnlockOSThread()
		done <- onThread(f)
	}()
	return <-done
}

// takeRights takes from the calling thread, for good, all rights but those of g. As root it also loses root's powers, but for reading
// files of others: with them, the environment of other processes could be read in spite of Landlock.
func takeRights(g grants) error {
	const read = landlock.AccessFSSet(kernel.AccessFSReadFile | kernel.AccessFSReadDir)
	rules := []landlock.Rule{landlock.PathAccess(kernel.AccessFSReadFile|kernel.AccessFSWriteFile, os.DevNull)}
	for i, path := range slices.Concat(g.run, g.read) {
		rights := read
		if i < len(g.run) {
			rights |= kernel.AccessFSExecute
		}
		info, err := os.Stat(path)
		if err != nil {
			continue // it can't be used anyway
		}
		if !info.IsDir() {
			rights &^= kernel.AccessFSReadDir // a file has no such right
		}
		rules = append(rules, landlock.PathAccess(rights, path).IgnoreIfMissing())
	}
	// The best that this kernel can, which is known to be enough.
	fd, flags, err := landlock.V11.BestEffort().NewRulesetFD(rules...)
	if err != nil {
		return err
	}
	if fd < 0 {
		return errors.New("the kernel takes no rights")
	}
	defer func() { _ = unix.Close(fd) }()
	for c := uintptr(0); c < 64; c++ {
		if c != unix.CAP_DAC_OVERRIDE && c != unix.CAP_DAC_READ_SEARCH {
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // fails for who has no powers anyway
		}
	}
	return errors.Join(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), kernel.LandlockRestrictSelf(fd, flags))
}

// confinedGrants are the paths of a confined command that names some programs, which may be links to elsewhere.
func (s *shared) confinedGrants(programs []string) grants {
	g := grants{
		run:  strings.Fields("/usr /bin /sbin /lib /lib32 /lib64 /libx32 /opt /nix/store /run/current-system /snap"),
		read: append(s.gitReads(), s.dir, "/etc", "/proc", "/sys", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"),
	}
	for _, entry := range s.cleanPath() {
		if dir := s.toolchain(resolved(entry)); dir != "" {
			g.run = append(g.run, dir)
		}
	}
	for _, name := range programs {
		if file := lookPath(name, s.cleanPath()); file != "" { // else it is a part of bash
			file = resolved(file)
			g.run = append(g.run, cmp.Or(s.toolchain(filepath.Dir(file)), file))
		}
	}
	return g
}

// toolchain is the folder that a folder of programs belongs to: ~/sdk/go1.26/bin to ~/sdk/go1.26. Where that would be one that holds more
// than a toolchain, it is the folder itself; it is "" for the home directory and what that lies in.
func (s *shared) toolchain(dir string) string {
	up := filepath.Dir(dir)
	switch {
	case s.aboveHome(dir):
		return ""
	case !listed(filepath.Base(dir), "bin sbin shims"), s.aboveHome(up), up == filepath.Join(s.o.Home, ".local"), up == filepath.Join(s.o.Home, ".cargo"):
		return dir
	}
	return up
}
