package shellread

import "slices"

// identifiers returns the names in a jq filter that are not field names (.name), those inside strings too.
func identifiers(filter string) (names []string) {
	for i := 0; i < len(filter); i++ {
		start := i
		for i < len(filter) && isNameByte(filter[i]) {
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
