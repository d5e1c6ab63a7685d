package shellread

// table holds what is known of each program. A line is its name, the rule for its operands, and its options:
//
//	-abc    one-letter flags            -n:  --name:  takes a text, attached or as the next word (# the same, a number)
//	--name  a flag                      -f@  --name@  takes a path that is read
//	-#      a number as an option       -x?  --name?  takes a text only if attached
//	*group  the options of that line    %  takes two texts,  ^ the next word or digits,  & a text unless it is the last word,  $ a script
//
// Long options are never abbreviated. Where systems differ on whether an option takes the next word, it has a ?: the word
// is then judged as an operand too. In lines whose rule begins with ! options are not bundled: each stands alone with
// its whole name. A line with a / is a subcommand. Left out is whatever writes, runs a program, reads a list of files, or
// follows links below a directory. The lines are sorted by name. The rules are those of rules in operands.go.
const table = `
*diff . -puszRwbWac -U: -G: -S: -M? -B? -C? -D --patch --no-patch --unified: --raw --patch-with-raw --patch-with-stat --stat? --stat-width: --stat-count: --compact-summary --numstat --shortstat --dirstat? --cumulative --summary --name-only --name-status --no-stat --color? --no-color --color-moved? --color-moved-ws: --word-diff? --word-diff-regex: --color-words? --no-renames --rename-empty --check --full-index --binary --abbrev? --no-abbrev --break-rewrites? --find-renames? --find-copies? --find-copies-harder --irreversible-delete --diff-filter: --pickaxe-all --pickaxe-regex --find-object: --skip-to: --rotate-to: --relative? --no-relative --text --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-matching-lines: -I: --inter-hunk-context: --function-context --exit-code --quiet --no-ext-diff --no-textconv --ignore-submodules? --src-prefix: --dst-prefix: --no-prefix --default-prefix --line-prefix: --ita-invisible-in-index --minimal --patience --histogram --anchored: --diff-algorithm: --indent-heuristic --no-indent-heuristic --output-indicator-new: --output-indicator-old: --base --ours --theirs
*log . -n: -# -i -E -F -P -g -m -L: --max-count: --skip: --since: --after: --until: --before: --since-as-filter: --author: --committer: --grep-reflog: --grep: --all-match --invert-grep --regexp-ignore-case --basic-regexp --extended-regexp --fixed-strings --perl-regexp --remove-empty --merges --no-merges --min-parents: --max-parents: --first-parent --exclude-first-parent-only --not --all --branches? --tags? --remotes? --glob: --exclude: --exclude-hidden: --reflog --single-worktree --ignore-missing --bisect --left-right --left-only --right-only --cherry --cherry-mark --cherry-pick --walk-reflogs --merge --boundary --simplify-by-decoration --full-history --dense --sparse --simplify-merges --ancestry-path? --show-pulls --date-order --author-date-order --topo-order --reverse --no-walk? --do-walk --format: --pretty? --abbrev-commit --no-abbrev-commit --oneline --encoding: --expand-tabs? --no-expand-tabs --notes? --no-notes --relative-date --date: --parents --children --graph --no-graph --show-linear-break? --follow --decorate? --no-decorate --decorate-refs: --decorate-refs-exclude: --clear-decorations --source --mailmap --no-mailmap --use-mailmap --log-size --cc --combined-all-paths --diff-merges: --no-diff-merges --root *diff
*std . --help --version
: print
arch none *std
awk awk -F: -v:
base64 one -diD -w: --decode --ignore-garbage --wrap: *std
basename text -az -s: --multiple --suffix: --zero *std
cal text -13y
cat paths -AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting *std
cksum paths -a: --algorithm: *std
cmp paths -bls -i: -n: --print-bytes --ignore-initial: --verbose --bytes: --quiet --silent *std
column paths -txnLeJ -s: -o: -c: -N: -R: -H: -O: -W: -T: --table --separator: --output-separator: --table-columns: --table-right: --json --output-width: --fillrows *std
comm paths -123iz --check-order --nocheck-order --output-delimiter: --total --zero-terminated *std
command lookup -vV
cut paths -nsz -b: -c: -d: -f: --bytes: --characters: --delimiter: --fields: --complement --only-delimited --output-delimiter: --zero-terminated *std
date date -uRjn -d: -r@ -I? --date: --utc --universal --reference@ --iso-8601? --rfc-3339: --rfc-email --debug *std
df paths -ahHiklPT -t: -x: -B: --all --human-readable --si --inodes --local --portability --print-type --type: --exclude-type: --total --block-size: --output? *std
diff paths -aBbcdeEiNnpPqstTuwyZ -C: -U: -F: -I: -L: -W: -x: --normal --brief --report-identical-files --context? --unified? --ed --rcs --side-by-side --width: --left-column --suppress-common-lines --show-c-function --show-function-line: --label: --expand-tabs --initial-tab --tabsize: --new-file --unidirectional-new-file --ignore-file-name-case --exclude: --ignore-case --ignore-tab-expansion --ignore-trailing-space --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-matching-lines: --text --strip-trailing-cr --minimal --horizon-lines: --speed-large-files --color? --from-file@ --to-file@ *std
dirname text -z --zero *std
du paths -abchHDklmsSx0 -d: -t: -B: --all --apparent-size --bytes --total --dereference-args --max-depth: --human-readable --si --inodes --count-links --no-dereference --null --separate-dirs --summarize --threshold: --block-size: --time? --time-style: --exclude: --one-file-system *std
echo print
exit text
expand paths -i -t: --initial --tabs: *std
expr text
false print
fd pattern -HIusigFap01q -d: -t: -e: -E: -S: -c: -j: --hidden --no-ignore --no-ignore-vcs --unrestricted --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --full-path --print0 --max-depth: --min-depth: --exact-depth: --type: --extension: --exclude: --size: --changed-within: --changed-before: --newer: --older: --color: --threads: --max-results: --quiet --search-path@ --prune *std
file paths -biLhkrN0v -F: -e: -P: --brief --mime --mime-type --mime-encoding --dereference --no-dereference --keep-going --raw --no-pad --print0 --separator: --extension *std
find !find -H -P -a -and -o -or -not -print -print0 -ls -prune -quit -empty -true -false -depth -d -mount -xdev -daystart -noleaf -readable -writable -executable -nouser -nogroup -ignore_readdir_race -name: -iname: -path: -ipath: -wholename: -iwholename: -regex: -iregex: -regextype: -lname: -ilname: -type: -xtype: -size: -mtime: -ctime: -atime: -mmin: -cmin: -amin: -maxdepth: -mindepth: -perm: -user: -group: -uid: -gid: -links: -inum: -fstype: -used: -printf: -newer@ -anewer@ -cnewer@ -samefile@ -newermt: -newerct: -newerat: -newermm@ --help --version
fold paths -bs -w: -# --bytes --spaces --width: *std
free none -bkmghtw --human --total --wide --si --mega --giga
git git
git/blame revs -lstwcefnpb -L: -C? -M? --root --show-stats --porcelain --line-porcelain --incremental --date: --since: --first-parent --reverse --color-lines --color-by-age --show-name --show-number --show-email --abbrev: --ignore-rev: --progress --no-progress
git/branch list -arvl --all --remotes --list --show-current --verbose --contains& --no-contains& --merged& --no-merged& --points-at: --sort: --format: --color? --no-color --column? --no-column --ignore-case --abbrev? --no-abbrev --omit-empty
git/cat-file revs -tspe
git/check-attr paths -a --all --cached
git/check-ignore paths -vqn --verbose --quiet --non-matching --no-index
git/config config --get --get-all --local --global --show-origin --show-scope --bool --int --type: --default: -z --null --includes --no-includes
git/count-objects none -vH --verbose --human-readable
git/describe revs --all --tags --contains --abbrev? --candidates: --exact-match --debug --long --match: --exclude: --always --first-parent
git/diff revs --cached --staged --merge-base *diff
git/diff-files revs -q -0123 -c --cc *diff
git/diff-index revs -m --cached --merge-base *diff
git/diff-tree revs -r -t -m -c -v --root --no-commit-id --cc --merge-base *diff
git/for-each-ref text --count: --sort: --format: --color? --points-at: --merged& --no-merged& --contains& --no-contains& --ignore-case --shell --omit-empty --exclude:
git/grep pattern -nivwEGPFlLchHopWaqrI0 -e: -A: -B: -C: -# -m: --extended-regexp --basic-regexp --perl-regexp --fixed-strings --ignore-case --invert-match --word-regexp --line-number --column --files-with-matches --name-only --files-without-match --null --only-matching --count --color? --no-color --break --heading --show-function --function-context --context: --after-context: --before-context: --max-count: --max-depth: --recursive --no-recursive --all-match --and --or --not --quiet --cached --untracked --no-exclude-standard --exclude-standard --text --full-name --threads: --no-textconv
git/log revs *log
git/ls-files paths -cdmoisuktvz -x: --cached --deleted --modified --others --ignored --stage --unmerged --killed --directory --no-empty-directory --eol --deduplicate --exclude: --exclude-standard --error-unmatch --full-name --abbrev? --with-tree: --format: --sparse
git/ls-tree revs -rdtlz --long --name-only --name-status --object-only --full-name --full-tree --abbrev? --format:
git/merge-base revs -a --all --octopus --independent --is-ancestor --fork-point
git/name-rev revs --tags --refs: --exclude: --all --name-only --no-undefined --always
git/reflog sub0 *log
git/reflog/show revs *log
git/remote sub0 -v --verbose
git/remote/get-url text --push --all
git/rev-list revs --count --objects --disk-usage? --header --timestamp *log
git/rev-parse revs -q --verify --quiet --short? --abbrev-ref? --symbolic --symbolic-full-name --all --branches? --tags? --remotes? --show-toplevel --show-prefix --show-cdup --show-superproject-working-tree --show-object-format? --git-dir --absolute-git-dir --git-common-dir --git-path: --path-format: --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --revs-only --no-revs --flags --no-flags --default: --not --since: --until:
git/shortlog revs -e -n -s -w? --numbered --summary --email --group: *log
git/show revs *log
git/show-branch revs -ar --all --remotes --list --topo-order --date-order --sha1-name --no-name
git/show-ref text -dqs --head --heads --branches --tags --dereference --hash? --verify --abbrev? --quiet --exists
git/stash sub
git/stash/list none *log
git/stash/show revs --include-untracked --only-untracked *diff
git/status paths -sbvz -u? -M? --short --branch --porcelain? --long --verbose --untracked-files? --ignored? --show-stash --ahead-behind --no-ahead-behind --renames --no-renames --find-renames? --column? --no-column --ignore-submodules?
git/symbolic-ref one -q --short --quiet --no-recurse
git/tag list -li -n? --list --contains& --no-contains& --merged& --no-merged& --points-at& --sort: --format: --color? --column? --no-column --ignore-case --omit-empty
git/version none
git/worktree sub
git/worktree/list none -vz --porcelain --verbose
go sub
go/doc !text -all -c -cmd -short -src -u
go/env !text -json -changed
go/help text
go/list !packages -f: -json? -m -deps -test -e -find -tags:
go/version none
gofmt !paths -l -d -e -s -r:
grep pattern -EFGPivwxcLloqsbHhnTZzaIrUy -e: -f@ -m: -A: -B: -C: -# --regexp: --file@ --extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count --color? --colour? --files-without-match --files-with-matches --max-count: --only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --label: --line-number --initial-tab --null --after-context: --before-context: --context: --text --binary-files: --exclude: --exclude-from@ --exclude-dir: --include: --recursive --line-buffered --null-data --binary *std
groups text *std
head paths -qvz -n: -c: -# --lines: --bytes: --quiet --silent --verbose --zero-terminated *std
hexdump paths -bcCdoxvX -n: -s: -e: --canonical --length: --skip: --no-squeezing *std
hostname none -s --short
id text -agGnruzZ --group --groups --name --real --user *std
join paths -iz -a: -e: -j: -o: -t: -v: -1: -2: --ignore-case --check-order --nocheck-order --header *std
jq jq -rcnsSeajMCR --raw-output --raw-output0 --compact-output --null-input --slurp --sort-keys --exit-status --ascii-output --join-output --monochrome-output --color-output --raw-input --seq --stream --tab --unbuffered --indent: --arg% --argjson% *std
ls paths -aAbBcCdDfFgGhHiklmnNopqQrRsStuUvxXZ1 -I? -w? -T? --all --almost-all --author --escape --block-size: --ignore-backups --color? --directory --classify? --format: --full-time --no-group --group-directories-first --human-readable --si --dereference-command-line --dereference-command-line-symlink-to-dir --hide: --hyperlink? --indicator-style: --inode --ignore: --kibibytes --numeric-uid-gid --literal --hide-control-chars --show-control-chars --quote-name --quoting-style: --reverse --recursive --size --sort: --time: --time-style: --tabsize: --width: --context --zero *std
lsb_release none -adirc --all --short
nl paths -p -b: -d: -f: -h: -i: -l: -n: -s: -v: -w: --body-numbering: --number-format: --number-separator: --number-width: --starting-line-number: --line-increment: *std
nproc none --all --ignore: *std
od paths -bcdfilosxvh -A: -t: -N: -j: -w? -S: --address-radix: --format: --read-bytes: --skip-bytes: --width? --strings? --output-duplicates *std
paste paths -sz -d: --delimiters: --serial --zero-terminated *std
printf printf
ps ps -AadefFljN -o: -p: -C: -u: -U: --sort: --no-headers --headers --forest --pid: --ppid: --user:
pwd none -LP
readlink paths -femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline *std
realpath paths -emsqzLP --canonicalize-existing --canonicalize-missing --no-symlinks --strip --quiet --zero --logical --physical --relative-to@ --relative-base@ *std
rev paths *std
rg pattern -aciFHIlnNopPqsSuUvVwx0. -e: -f@ -A: -B: -C: -d: -E: -g: -j: -m: -M: -r: -t: -T: --after-context: --before-context: --context: --auto-hybrid-regex --binary --block-buffered --byte-offset --case-sensitive --color: --colors: --column --context-separator: --count --count-matches --crlf --encoding: --engine: --field-context-separator: --field-match-separator: --file@ --files --files-with-matches --files-without-match --fixed-strings --glob: --glob-case-insensitive --heading --no-heading --hidden --no-hidden --iglob: --ignore-case --ignore-file@ --include-zero --invert-match --json --line-buffered --line-number --no-line-number --line-regexp --max-columns: --max-columns-preview --max-count: --max-depth: --max-filesize: --mmap --no-mmap --multiline --multiline-dotall --no-config --no-filename --no-ignore --no-ignore-dot --no-ignore-exclude --no-ignore-files --no-ignore-global --no-ignore-parent --no-ignore-vcs --no-messages --no-require-git --no-unicode --null --null-data --one-file-system --only-matching --passthru --path-separator: --pcre2 --pretty --quiet --regexp: --replace: --smart-case --sort: --sortr: --stats --text --threads: --trim --no-trim --type: --type-not: --type-add: --type-clear: --type-list --unrestricted --vimgrep --with-filename --word-regexp *std
sed sed -nrEsuz -e$ --quiet --silent --expression$ --regexp-extended --separate --unbuffered --null-data --posix --sandbox --debug *std
seq text -w -s: -f: --equal-width --separator: --format: *std
sha256sum paths -btz --binary --text --tag --zero *std
shuf one -zr -n: -i: --head-count: --input-range: --repeat *std
sleep text
sort paths -bdfghiMnrRVcCsuzm -k: -t: -S: --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --human-numeric-sort --ignore-nonprinting --month-sort --numeric-sort --reverse --random-sort --version-sort --sort: --check? --stable --unique --zero-terminated --merge --key: --field-separator: --buffer-size: --parallel: --debug *std
stat paths -fLt -c: --format: --printf: --dereference --file-system --terse *std
strings response -awfo -n: -t: -e: -s: -# --all --bytes: --radix: --encoding: --print-file-name *std
tac paths -br -s: --before --regex --separator: *std
tail paths -qvz -n: -c: -# --lines: --bytes: --quiet --silent --verbose --zero-terminated *std
test !text -e@ -f@ -d@ -s@ -r@ -w@ -x@ -L@ -h@ -p@ -S@ -b@ -c@ -g@ -u@ -k@ -O@ -G@ -N@ -n: -z: -t: -eq: -ne: -lt: -le: -gt: -ge: -o
tr text -cCdst --complement --delete --squeeze-repeats --truncate-set1 *std
tree paths -adfipshugDFqNQCnrctvUxASJX -L^ -P^ -I^ -T^ --dirsfirst --filesfirst --noreport --prune --gitignore --du --si --inodes --device --sort: --timefmt: --filelimit: --matchdirs --ignore-case --charset: --nolinks *std
true print
type text -atpPf
uname none -asnrvmpio --all --kernel-name --nodename --kernel-release --kernel-version --machine --operating-system *std
uniq one -cdDiuz -f: -s: -w: --count --repeated --all-repeated? --group? --ignore-case --unique --zero-terminated --skip-fields: --skip-chars: --check-chars: *std
uptime none -ps --pretty --since
version/ !version --version
version/V !version --version -V
version/java !version --version -version
version/v !version --version -v
wc paths -lwcmL --lines --words --bytes --chars --max-line-length --total: *std
whereis text -bms
which text -a
whoami none *std
xxd !one -a -b -e -i -E -p -ps -u -c# -g# -l# -o# -s#
`

// lineOf returns the key of the line for a program: some share one, and some are known by their version only.
func lineOf(program string) string {
	switch program {
	case "[":
		return "test"
	case "egrep", "fgrep":
		return "grep"
	case "gawk", "mawk", "nawk":
		return "awk"
	case "fdfind":
		return "fd"
	case "md5sum", "sha1sum", "sha224sum", "sha384sum", "sha512sum", "b2sum":
		return "sha256sum"
	case "bash", "bun", "cc", "cmake", "deno":
		return "version/"
	case "java", "javac":
		return "version/java"
	case "clang", "docker", "g++", "gcc", "make", "node", "npm", "perl", "php", "ruby":
		return "version/v"
	case "curl", "pip", "pip3", "python", "python3":
		return "version/V"
	}
	return program
}
