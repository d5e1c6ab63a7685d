package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	kernel "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// A command that runs unasked is run by anchor itself, started again as "anchor __confine", which takes rights from itself
// with Landlock and then becomes bash. What it may still do: read and run what lies in the system's folders and in those of
// the programs on PATH, read the directory, the repository and the user's git settings, write to /dev/null. It may not
// write, nor run what lies in the directory, nor use TCP, nor signal or look into processes other than its own.
// If it can't be started so, that comes back through a pipe, and the command counts as asked about.

const (
	// confineArg is the first argument that makes anchor a confined command.
	confineArg = "__confine"
	// leastABI is the first version of Landlock that can forbid truncation.
	leastABI = 3
	// reportFD is where a confined command says that it starts, and why it could not.
	reportFD  = 3
	confineOK = "ok"
)

// grants are the paths that a confined command may use.
type grants struct {
	Run  []string `json:"run"`  // read and run
	Read []string `json:"read"` // read
}

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

// Confine is what main runs, before anything else, if the first argument is __confine: it takes rights from the process
// and becomes the command. It returns only if that failed.
func Confine(args []string) int {
	syscall.CloseOnExec(reportFD)
	report := os.NewFile(reportFD, "report")
	_, _ = report.WriteString(becomeConfined(args, report).Error())
	return 125
}

func becomeConfined(args []string, report *os.File) error {
	if len(args) < 4 || args[0] != confineArg {
		return errors.New("this is not for calling by hand")
	}
	var g grants
	if err := json.Unmarshal([]byte(args[1]), &g); err != nil {
		return err
	}
	versions := []landlock.Config{landlock.V3, landlock.V4, landlock.V5, landlock.V6, landlock.V7, landlock.V8, landlock.V9, landlock.V10, landlock.V11}
	abi := landlockABI()
	if abi < leastABI {
		return errors.New("the kernel has no Landlock")
	}
	read := landlock.AccessFSSet(kernel.AccessFSReadFile | kernel.AccessFSReadDir)
	write := landlock.AccessFSSet(kernel.AccessFSReadFile | kernel.AccessFSWriteFile)
	rules := []landlock.Rule{landlock.PathAccess(write, "/dev/null").IgnoreIfMissing()}
	for _, dir := range g.Run {
		rules = append(rules, access(read|kernel.AccessFSExecute, dir))
	}
	for _, dir := range g.Read {
		rules = append(rules, access(read, dir))
	}
	if err := versions[min(abi-leastABI, len(versions)-1)].Restrict(rules...); err != nil {
		return err
	}
	dropCapabilities()
	_, _ = report.WriteString(confineOK)
	return syscall.Exec(args[2], args[3:], os.Environ())
}

// dropCapabilities takes all powers of root from what is run next, but for reading files of others: with them, the
// environment of other processes could be read in spite of Landlock.
func dropCapabilities() {
	runtime.LockOSThread() // the thread that becomes the command
	for c := uintptr(0); c < 64; c++ {
		if c != unix.CAP_DAC_OVERRIDE && c != unix.CAP_DAC_READ_SEARCH {
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // fails for who has no powers anyway
		}
	}
}

// access grants rights below a path; a file has no directory rights.
func access(rights landlock.AccessFSSet, path string) landlock.Rule {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		rights &^= kernel.AccessFSReadDir
	}
	return landlock.PathAccess(rights, path).IgnoreIfMissing()
}

// confined makes cmd start confined. started waits until it has become bash, and returns why not. Without Landlock or
// anchor's own name, cmd is left as it is.
func (e effects) confined(cmd *exec.Cmd) (started func() error, err error) {
	if e.o.Self == "" || landlockABI() < leastABI {
		return func() error { return nil }, nil
	}
	spec, err := json.Marshal(e.confinedGrants())
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Args = append([]string{"anchor", confineArg, string(spec), cmd.Path}, cmd.Args...)
	cmd.Path = e.o.Self
	cmd.ExtraFiles = []*os.File{w}
	return func() error {
		w.Close()
		defer r.Close()
		_ = r.SetReadDeadline(time.Now().Add(5 * time.Second))
		if report, err := io.ReadAll(r); err != nil || string(report) != confineOK {
			return fmt.Errorf("anchor could not be started for it: %s", strings.TrimPrefix(string(report), confineOK))
		}
		return nil
	}, nil
}

// confinedGrants are the paths of a confined command.
func (s *shared) confinedGrants() grants {
	g := grants{
		Run: []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/run/current-system", "/snap"},
		Read: []string{s.dir, "/etc", "/proc", "/sys", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
			filepath.Join(s.o.Home, ".gitconfig"), filepath.Join(s.o.Home, ".config/git/config"),
			filepath.Join(s.o.Home, ".config/git/ignore"), filepath.Join(s.o.Home, ".config/git/attributes")},
	}
	for _, entry := range s.cleanPath() {
		g.Run = append(g.Run, s.toolchain(resolved(entry)))
	}
	g.Read = append(g.Read, s.gitReads()...)
	return g
}

// toolchain is the folder that a folder of programs belongs to: ~/sdk/go1.26/bin to ~/sdk/go1.26. Where that would be the home
// directory, a folder above it, or one that is known to hold more than a toolchain, it is the folder itself.
func (s *shared) toolchain(dir string) string {
	up := filepath.Dir(dir)
	switch name := filepath.Base(dir); {
	case name != "bin" && name != "shims" && name != "sbin":
		return dir
	case up == s.o.Home || up == "/" || strings.HasPrefix(s.o.Home+"/", up+"/"):
		return dir
	case up == filepath.Join(s.o.Home, ".local") || up == filepath.Join(s.o.Home, ".cargo"):
		return dir
	}
	return up
}
