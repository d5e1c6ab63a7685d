package shellread

import (
	"slices"
	"strings"
)

// identifiers returns the names in a jq or yq filter that are not field names (.name), those inside strings too.
func identifiers(filter string) (names []string) {
	isName := func(c byte) bool {
		return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	for i := 0; i < len(filter); i++ {
		start := i
		for i < len(filter) && isName(filter[i]) {
			i++
		}
		field := start > 0 && filter[start-1] == '.' && (start < 2 || filter[start-2] != '.')
		if i > start && !field {
			names = append(names, filter[start:i])
		}
	}
	return names
}

// jqReads accepts a jq filter that loads no module and does not look at the environment.
func jqReads(filter string) bool {
	return !slices.ContainsFunc(identifiers(filter), func(name string) bool {
		return slices.Contains([]string{"env", "ENV", "import", "include", "modulemeta", "get_search_list", "__prog_args"}, name)
	})
}

// yqReads accepts what both programs of that name read alike: paths and a few functions, nothing that loads or runs.
func yqReads(filter string) bool {
	const functions = " select keys length has map to_entries from_entries with_entries sort sort_by unique type first last contains not and or true false null join tag any all flatten reverse group_by add "
	var code strings.Builder
	for i, piece := range strings.Split(filter, `"`) { // every second one is a string
		if i%2 == 0 {
			code.WriteString(piece + " ")
		}
	}
	return !strings.ContainsAny(filter, "\\$@") && !slices.ContainsFunc(identifiers(code.String()), func(name string) bool {
		return !strings.Contains(functions, " "+name+" ") && strings.Trim(name, "0123456789") != ""
	})
}
