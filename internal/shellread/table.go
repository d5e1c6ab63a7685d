package shellread

// table holds what is known of each program. A line is its name, the rule for its operands, and its options:
//
//	-abc    one-letter flags            -n:  --name:  takes a text, attached or as the next word (# the same, a number)
//	--name  a flag                      -f@  --name@  takes a path that is read
//	-#      a number as an option       -x?  --name?  takes a text only if attached
//	*group  the options of that line    %  takes two texts,  ^ the next word or digits,  & a text unless it is the last word,  $ a script
//
// Long options are never abbreviated. In lines whose rule begins with ! options are not bundled: each stands alone with
// its whole name. A line with a / is a subcommand. Left out is whatever writes, runs a program, reads a list of files, or
// follows links below a directory. The rules are those of rules in operands.go.
const table = `
[ !text -e@ -f@ -d@ -s@ -r@ -w@ -x@ -L@ -h@ -p@ -S@ -b@ -c@ -g@ -u@ -k@ -O@ -G@ -N@ -n: -z: -t: -eq: -ne: -lt: -le: -gt: -ge: -o
test !text -e@ -f@ -d@ -s@ -r@ -w@ -x@ -L@ -h@ -p@ -S@ -b@ -c@ -g@ -u@ -k@ -O@ -G@ -N@ -n: -z: -t: -eq: -ne: -lt: -le: -gt: -ge: -o
: print
true print
false print
echo print
printf printf
exit text
pwd none -LP
type text -atpPf
command lookup -vV
which text -a
whereis text -bms

ls paths -aAbBcCdDfFgGhHiIklmnNopqQrRsStuUvxXZ1 -I: -w: -T: --all --almost-all --author --escape --block-size: --ignore-backups --color? --directory --classify? --format: --full-time --no-group --group-directories-first --human-readable --si --dereference-command-line --dereference-command-line-symlink-to-dir --hide: --hyperlink? --indicator-style: --inode --ignore: --kibibytes --numeric-uid-gid --literal --hide-control-chars --show-control-chars --quote-name --quoting-style: --reverse --recursive --size --sort: --time: --time-style: --tabsize: --width: --context --zero *std
cat paths -AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting *std
head paths -qvz -n: -c: -# --lines: --bytes: --quiet --silent --verbose --zero-terminated *std
tail paths -qvz -n: -c: -# --lines: --bytes: --quiet --silent --verbose --zero-terminated *std
wc paths -lwcmL --lines --words --bytes --chars --max-line-length --total: *std
nl paths -p -b: -d: -f: -h: -i: -l: -n: -s: -v: -w: --body-numbering: --number-format: --number-separator: --number-width: --starting-line-number: --line-increment: *std
tac paths -br -s: --before --regex --separator: *std
rev paths *std
cut paths -nsz -b: -c: -d: -f: --bytes: --characters: --delimiter: --fields: --complement --only-delimited --output-delimiter: --zero-terminated *std
paste paths -sz -d: --delimiters: --serial --zero-terminated *std
fold paths -bs -w: -# --bytes --spaces --width: *std
fmt paths -cstu -w: -p: -g: --width: --split-only --uniform-spacing *std
expand paths -i -t: --initial --tabs: *std
unexpand paths -a -t: --all --first-only --tabs: *std
column paths -txnLeJ -s: -o: -c: -N: -R: -H: -O: -W: -T: --table --separator: --output-separator: --table-columns: --table-right: --json --output-width: --fillrows *std
tr text -cCdst --complement --delete --squeeze-repeats --truncate-set1 *std
sort paths -bdfghiMnrRVcCsuzm -k: -t: -S: --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --human-numeric-sort --ignore-nonprinting --month-sort --numeric-sort --reverse --random-sort --version-sort --sort: --check? --stable --unique --zero-terminated --merge --key: --field-separator: --buffer-size: --parallel: --debug *std
uniq one -cdDiuz -f: -s: -w: --count --repeated --all-repeated? --group? --ignore-case --unique --zero-terminated --skip-fields: --skip-chars: --check-chars: *std
comm paths -123iz --check-order --nocheck-order --output-delimiter: --total --zero-terminated *std
join paths -iz -a: -e: -j: -o: -t: -v: -1: -2: --ignore-case --check-order --nocheck-order --header *std
cmp paths -bls -i: -n: --print-bytes --ignore-initial: --verbose --bytes: --quiet --silent *std
diff diff -aBbcdeEiNnpPqrstTuwyZ -C: -U: -F: -I: -L: -W: -x: --normal --brief --report-identical-files --context? --unified? --ed --rcs --side-by-side --width: --left-column --suppress-common-lines --show-c-function --show-function-line: --label: --expand-tabs --initial-tab --tabsize: --recursive --no-dereference --new-file --unidirectional-new-file --ignore-file-name-case --exclude: --ignore-case --ignore-tab-expansion --ignore-trailing-space --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-matching-lines: --text --strip-trailing-cr --minimal --horizon-lines: --speed-large-files --color? --from-file@ --to-file@ *std
grep pattern *grep
egrep pattern *grep
fgrep pattern *grep
*grep . -EFGPivwxcLloqsbHhnTZzaIrUy -e: -f@ -m: -A: -B: -C: -# --regexp: --file@ --extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count --color? --colour? --files-without-match --files-with-matches --max-count: --only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --label: --line-number --initial-tab --null --after-context: --before-context: --context: --text --binary-files: --exclude: --exclude-from@ --exclude-dir: --include: --recursive --line-buffered --null-data --binary *std
rg pattern -aciFHIlnNopPqsSuUvVwx0. -e: -f@ -A: -B: -C: -d: -E: -g: -j: -m: -M: -r: -t: -T: --after-context: --before-context: --context: --auto-hybrid-regex --binary --block-buffered --byte-offset --case-sensitive --color: --colors: --column --context-separator: --count --count-matches --crlf --encoding: --engine: --field-context-separator: --field-match-separator: --file@ --files --files-with-matches --files-without-match --fixed-strings --glob: --glob-case-insensitive --heading --no-heading --hidden --no-hidden --iglob: --ignore-case --ignore-file@ --include-zero --invert-match --json --line-buffered --line-number --no-line-number --line-regexp --max-columns: --max-columns-preview --max-count: --max-depth: --max-filesize: --mmap --no-mmap --multiline --multiline-dotall --no-config --no-filename --no-ignore --no-ignore-dot --no-ignore-exclude --no-ignore-files --no-ignore-global --no-ignore-parent --no-ignore-vcs --no-messages --no-require-git --no-unicode --null --null-data --one-file-system --only-matching --passthru --path-separator: --pcre2 --pretty --quiet --regexp: --replace: --smart-case --sort: --sortr: --stats --text --threads: --trim --no-trim --type: --type-not: --type-add: --type-clear: --type-list --unrestricted --vimgrep --with-filename --word-regexp *std
fd pattern *fd
fdfind pattern *fd
*fd . -HIusigFap01q -d: -t: -e: -E: -S: -c: -j: -g: --hidden --no-ignore --no-ignore-vcs --unrestricted --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --full-path --print0 --max-depth: --min-depth: --exact-depth: --type: --extension: --exclude: --size: --changed-within: --changed-before: --newer: --older: --color: --threads: --max-results: --quiet --search-path@ --prune *std
find !find -H -P -a -and -o -or -not -print -print0 -ls -prune -quit -empty -true -false -depth -d -mount -xdev -daystart -noleaf -readable -writable -executable -nouser -nogroup -ignore_readdir_race -name: -iname: -path: -ipath: -wholename: -iwholename: -regex: -iregex: -regextype: -lname: -ilname: -type: -xtype: -size: -mtime: -ctime: -atime: -mmin: -cmin: -amin: -maxdepth: -mindepth: -perm: -user: -group: -uid: -gid: -links: -inum: -fstype: -used: -printf: -newer@ -anewer@ -cnewer@ -samefile@ -newermt: -newerct: -newerat: -newermm@ --help --version
tree paths -adfipshugDFqNQCnrctvUxASJX -L^ -P^ -I^ -T^ --dirsfirst --filesfirst --noreport --prune --gitignore --du --si --inodes --device --sort: --timefmt: --filelimit: --matchdirs --ignore-case --charset: --nolinks *std
du paths -abchHDklmsSx0 -d: -t: -B: --all --apparent-size --bytes --total --dereference-args --max-depth: --human-readable --si --inodes --count-links --no-dereference --null --separate-dirs --summarize --threshold: --block-size: --time? --time-style: --exclude: --one-file-system *std
df paths -ahHiklPT -t: -x: -B: --all --human-readable --si --inodes --local --portability --print-type --type: --exclude-type: --total --block-size: --output? *std
stat paths -fLt -c: --format: --printf: --dereference --file-system --terse *std
file paths -biLhkrN0v -F: -e: -P: --brief --mime --mime-type --mime-encoding --dereference --no-dereference --keep-going --raw --no-pad --print0 --separator: --extension *std
strings response -awfo -n: -t: -e: -s: -# --all --bytes: --radix: --encoding: --print-file-name *std
od paths -bcdfilosxvh -A: -t: -N: -j: -w? -S: --address-radix: --format: --read-bytes: --skip-bytes: --width? --strings? --output-duplicates *std
hexdump paths -bcCdoxvX -n: -s: -e: --canonical --length: --skip: --no-squeezing *std
hd paths -bcCdoxv -n: -s: -e: *std
xxd !one -a -b -e -i -E -p -ps -u -c# -g# -l# -o# -s#
base64 one -diD -w: --decode --ignore-garbage --wrap: *std
base32 one -di -w: --decode --wrap: *std
md5sum paths *sum
sha1sum paths *sum
sha224sum paths *sum
sha256sum paths *sum
sha384sum paths *sum
sha512sum paths *sum
b2sum paths *sum
cksum paths -a: --algorithm: *std
sum paths -rs *std
shasum paths -bt -a: *std
*sum . -btz --binary --text --tag --zero *std
realpath paths -emsqzLP --canonicalize-existing --canonicalize-missing --no-symlinks --strip --quiet --zero --logical --physical --relative-to@ --relative-base@ *std
readlink paths -femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline *std
basename text -az -s: --multiple --suffix: --zero *std
dirname text -z --zero *std
seq text -w -s: -f: --equal-width --separator: --format: *std
sleep text
expr text
shuf one -zr -n: -i: --head-count: --input-range: --repeat *std
numfmt text -d: --from: --to: --field: --header? --format: --grouping --suffix: --delimiter: *std

date date -uRjn -d: -r@ -I? --date: --utc --universal --reference@ --iso-8601? --rfc-3339: --rfc-email --debug *std
whoami none *std
id text -agGnruzZ --group --groups --name --real --user *std
groups text *std
users none *std
hostname none -s --short
uname none -asnrvmpio --all --kernel-name --nodename --kernel-release --kernel-version --machine --operating-system *std
arch none *std
nproc none --all --ignore: *std
uptime none -ps --pretty --since
free none -bkmghtw --human --total --wide --si --mega --giga
ps ps -AadefFljN -o: -p: -C: -u: -U: --sort: --no-headers --headers --forest --pid: --ppid: --user:
tty none -s
getconf text -a

sed sed -nrEsuz -e$ -l: --quiet --silent --expression$ --regexp-extended --separate --unbuffered --null-data --line-length: --posix --sandbox --debug *std
awk awk -F: -v:
gawk awk -F: -v:
mawk awk -F: -v:
nawk awk -F: -v:
jq jq -rcnsSeajMCR --raw-output --raw-output0 --compact-output --null-input --slurp --sort-keys --exit-status --ascii-output --join-output --monochrome-output --color-output --raw-input --seq --stream --tab --unbuffered --indent: --arg% --argjson% *std
yq yq -rPeMCnj -o: -p: -I: --prettyPrint --exit-status --no-colors --colors --null-input --raw-output --unwrapScalar? --output-format: --input-format: *std

go sub
go/version none
go/env !text -json -changed
go/help text
go/doc !text -all -c -cmd -short -src -u
go/list !packages -f: -json? -m -deps -test -e -find -tags:
gofmt !paths -l -d -e -s -r:
git git
npm !version --version -v
node !version --version -v
python !version --version -V
python3 !version --version -V
pip !version --version -V
pip3 !version --version -V
java !version -version --version
javac !version -version --version
make !version --version -v
cmake !version --version
gcc !version --version -v
g++ !version --version -v
cc !version --version -v
clang !version --version -v
bash !version --version
perl !version --version -v
ruby !version --version -v
php !version --version -v
docker !version --version -v
kubectl !version --version
curl !version --version -V
lua !version -v
deno !version --version -V
bun !version --version -v

git/version none
git/status paths -sbvzu -u? -M? --short --branch --porcelain? --long --verbose --untracked-files? --ignored? --show-stash --ahead-behind --no-ahead-behind --renames --no-renames --find-renames? --column? --no-column --ignore-submodules?
git/log revs *log
git/whatchanged revs *log
git/show revs *log
git/shortlog revs -e -n -s -w? --numbered --summary --email --group: *log
git/diff revs --cached --staged --merge-base *diff
git/diff-tree revs -r -t -m -c -v --root --no-commit-id --cc --merge-base *diff
git/diff-index revs -m --cached --merge-base *diff
git/diff-files revs -q -0123 -c --cc *diff
git/rev-list revs --count --objects --disk-usage? --header --timestamp *log
git/reflog sub0 *log
git/reflog/show revs *log
git/stash sub
git/stash/list none *log
git/stash/show revs --include-untracked --only-untracked *diff
git/range-diff revs --creation-factor: --left-only --right-only *diff
git/cherry revs -v --abbrev?
git/show-branch revs -ar --all --remotes --list --topo-order --date-order --sha1-name --no-name
*diff . -puszRwbWac -U: -G: -S: -M? -B? -C? -D --patch --no-patch --unified: --raw --patch-with-raw --patch-with-stat --stat? --stat-width: --stat-count: --compact-summary --numstat --shortstat --dirstat? --cumulative --summary --name-only --name-status --no-stat --submodule? --color? --no-color --color-moved? --color-moved-ws: --word-diff? --word-diff-regex: --color-words? --no-renames --rename-empty --check --full-index --binary --abbrev? --no-abbrev --break-rewrites? --find-renames? --find-copies? --find-copies-harder --irreversible-delete --diff-filter: --pickaxe-all --pickaxe-regex --find-object: --skip-to: --rotate-to: --relative? --no-relative --text --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-matching-lines: -I: --inter-hunk-context: --function-context --exit-code --quiet --no-ext-diff --no-textconv --ignore-submodules? --src-prefix: --dst-prefix: --no-prefix --default-prefix --line-prefix: --ita-invisible-in-index --minimal --patience --histogram --anchored: --diff-algorithm: --indent-heuristic --no-indent-heuristic --output-indicator-new: --output-indicator-old: --base --ours --theirs
*log . -n: -# -i -E -F -P -g -m -L: --max-count: --skip: --since: --after: --until: --before: --since-as-filter: --author: --committer: --grep-reflog: --grep: --all-match --invert-grep --regexp-ignore-case --basic-regexp --extended-regexp --fixed-strings --perl-regexp --remove-empty --merges --no-merges --min-parents: --max-parents: --first-parent --exclude-first-parent-only --not --all --branches? --tags? --remotes? --glob: --exclude: --exclude-hidden: --reflog --single-worktree --ignore-missing --bisect --left-right --left-only --right-only --cherry --cherry-mark --cherry-pick --walk-reflogs --merge --boundary --simplify-by-decoration --full-history --dense --sparse --simplify-merges --ancestry-path? --show-pulls --date-order --author-date-order --topo-order --reverse --no-walk? --do-walk --format: --pretty? --abbrev-commit --no-abbrev-commit --oneline --encoding: --expand-tabs? --no-expand-tabs --notes? --no-notes --relative-date --date: --parents --children --graph --no-graph --show-linear-break? --follow --decorate? --no-decorate --decorate-refs: --decorate-refs-exclude: --clear-decorations --source --mailmap --no-mailmap --use-mailmap --log-size --cc --combined-all-paths --diff-merges: --no-diff-merges --root *diff
git/blame revs -lstwcefnpb -L: -C? -M? --root --show-stats --porcelain --line-porcelain --incremental --date: --since: --first-parent --reverse --color-lines --color-by-age --show-name --show-number --show-email --abbrev: --ignore-rev: --progress --no-progress
git/annotate revs -lt -L:
git/branch list -arvl --all --remotes --list --show-current --verbose --contains& --no-contains& --merged& --no-merged& --points-at: --sort: --format: --color? --no-color --column? --no-column --ignore-case --abbrev? --no-abbrev --omit-empty
git/tag list -li -n? --list --contains& --no-contains& --merged& --no-merged& --points-at& --sort: --format: --color? --column? --no-column --ignore-case --omit-empty
git/remote sub0 -v --verbose
git/remote/get-url text --push --all
git/worktree sub
git/worktree/list none -vz --porcelain --verbose
git/notes sub
git/notes/list revs
git/notes/show revs
git/config config --get --get-all --local --global --show-origin --show-scope --bool --int --type: --default: -z --null --includes --no-includes
git/symbolic-ref one -q --short --quiet --no-recurse
git/rev-parse revs -q --verify --quiet --short? --abbrev-ref? --symbolic --symbolic-full-name --all --branches? --tags? --remotes? --show-toplevel --show-prefix --show-cdup --show-superproject-working-tree --show-object-format? --git-dir --absolute-git-dir --git-common-dir --git-path: --path-format: --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --revs-only --no-revs --flags --no-flags --default: --not --since: --until:
git/ls-files paths -cdmoisuktvz -x: --cached --deleted --modified --others --ignored --stage --unmerged --killed --directory --no-empty-directory --eol --deduplicate --exclude: --exclude-standard --error-unmatch --full-name --abbrev? --with-tree: --format: --sparse
git/ls-tree revs -rdtlz --long --name-only --name-status --object-only --full-name --full-tree --abbrev? --format:
git/cat-file revs -tspe
git/describe revs --all --tags --contains --abbrev? --candidates: --exact-match --debug --long --match: --exclude: --always --first-parent
git/name-rev revs --tags --refs: --exclude: --all --name-only --no-undefined --always
git/merge-base revs -a --all --octopus --independent --is-ancestor --fork-point
git/for-each-ref text --count: --sort: --format: --color? --points-at: --merged& --no-merged& --contains& --no-contains& --ignore-case --shell --omit-empty --exclude:
git/show-ref text -dqs --head --heads --branches --tags --dereference --hash? --verify --abbrev? --quiet --exists
git/count-objects none -vH --verbose --human-readable
git/check-ignore paths -vqn --verbose --quiet --non-matching --no-index
git/check-attr paths -a --all --cached
git/grep pattern -nivwEGPFlLchHopWaqrI0 -e: -A: -B: -C: -# -m: --extended-regexp --basic-regexp --perl-regexp --fixed-strings --ignore-case --invert-match --word-regexp --line-number --column --files-with-matches --name-only --files-without-match --null --only-matching --count --color? --no-color --break --heading --show-function --function-context --context: --after-context: --before-context: --max-count: --max-depth: --recursive --no-recursive --all-match --and --or --not --quiet --cached --untracked --no-exclude-standard --exclude-standard --text --full-name --threads: --no-textconv

*std . --help --version
`
