/** Converts the query of a URL to an object and back. All values are texts. */

/** If a name occurs more than once, its first value counts. */
export function parseQuery(search: string): Record<string, string> {
  const query = new URLSearchParams(search)
  return Object.fromEntries([...query.keys()].map((name) => [name, query.get(name) ?? '']))
}

/** Leaves out values that are null, undefined or empty. Returns `''` or a text that begins with `?`. */
export function formatQuery(values: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    if (value !== null && value !== undefined && value !== '') query.set(name, String(value))
  }
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}
