/** The document title: the name of the page, preceded by the number of problems. */

import { useEffect } from 'react'
import { allStaleSince } from './channel-state.ts'
import { useServices, useSummary, useWatchState } from './context.ts'
import { t } from './i18n.ts'

/** Sets the title while the page is open; null for the name of the product alone. In a replay, the title says only that. */
export function usePageTitle(page: string | null): void {
  const isStale = useWatchState((watchState) => allStaleSince(watchState) !== null)
  const { problems } = useSummary()
  const count = isStale ? '!' : String(problems)
  const isReplay = useServices().replay !== null
  useEffect(() => {
    if (isReplay) {
      document.title = t('shell.titled', { page: t('replay.title') })
      return
    }
    const name = page === null ? t('product') : t('shell.titled', { page })
    document.title = count === '0' ? name : t('shell.counted', { count, title: name })
  }, [page, count, isReplay])
}
