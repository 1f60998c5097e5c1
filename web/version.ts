/** Reloads a page that belongs to another version than the service. */

const storageKey = 'micwatch.reloaded-for'

/** Reloads the page once for each other version, so that a page that stays in a cache does not reload forever. */
export function reloadIfOutdated(version: string | undefined): void {
  if (version === undefined || version === __MICWATCH_VERSION__) return
  try {
    if (sessionStorage.getItem(storageKey) === version) return
    sessionStorage.setItem(storageKey, version)
  } catch {
    // Without storage it cannot be known whether the page was already reloaded.
    return
  }
  location.reload()
}
