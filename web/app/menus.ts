/** The menus of the pages. None has more than eight entries. */

import { useWatchState } from './context.ts'
import { useIsListed } from './sections.ts'
import { useSession } from './session.ts'
import { narrow, useMedia } from './use-media.ts'

const mainPages = ['monitor', 'wall', 'timeline', 'alerts', 'frequencies', 'shows', 'handover', 'overview'] as const
const otherPages = ['sites', 'check', 'changes', 'crew_sheet', 'about', 'account'] as const
/** The pages in the bottom bar of a phone. Its sheet omits them. */
export const barPages = ['monitor', 'alerts', 'check'] as const satisfies readonly MenuPage[]

export type MenuPage = (typeof mainPages | typeof otherPages)[number]

export interface Menus {
  readonly main: readonly MenuPage[]
  /** Behind *More*. */
  readonly others: readonly MenuPage[]
}

export function useMenus(): Menus {
  const isListed = useIsListed()
  const hasSites = useWatchState(({ sites }) => sites.length > 0)
  const isSignedIn = useSession()?.kind === 'user'
  const isPhone = useMedia(narrow)
  const isShown = (page: MenuPage) => {
    if (page === 'sites') return hasSites
    if (page === 'account') return isSignedIn && !isPhone
    return isListed(page) && !(isPhone && (barPages as readonly MenuPage[]).includes(page))
  }
  return { main: mainPages.filter(isShown), others: otherPages.filter(isShown) }
}
