/** Reloads a page that belongs to another version than the service. */

const storageKey = 'micwatch.reloaded-for'

/** Reloads the page at most once for each version of the service, so that a cached old page does not reload forever. */
export function reloadIfOutdated(version: string | undefined): void {
  if (version === undefined || version === __MICWATCH_VERSION__) return
  try {
    if (sessionStorage.getItem(storageKey) === version) return
    sessionStorage.setItem(storageKey, version)
  } catch {
    // Without session storage, the page could not detect that it was already reloaded.
    return
  }
  location.reload()
}
