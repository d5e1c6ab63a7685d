package gate

import (
	"io/fs"
	"os"
	"time"
)

const nonblock = 0

func linkCount(fs.FileInfo) int { return 1 }

func keepOwner(*os.File, fs.FileInfo) {}

func changed(info fs.FileInfo) time.Time { return info.ModTime() }

func executable(fs.FileInfo) bool { return true }

// executableSuffixes are what the names of programs may end in.
func executableSuffixes() []string { return []string{".exe", ".com", ".bat", ".cmd"} }
