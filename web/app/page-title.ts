import { useEffect } from 'react'
import { allStaleSince } from './channel-state.ts'
import { useServices } from './context.ts'
import { t } from './i18n.ts'
import type { Watch } from './watch.ts'

/**
 * Null for the name of the product alone. A replay has its own title. The page does not read the summary itself,
 * because it would be rendered with every change.
 */
export function usePageTitle(page: string | null): void {
  const { watch, replay } = useServices()
  const isReplay = replay !== null
  useEffect(() => {
    if (isReplay) {
      document.title = t('shell.titled', { page: t('replay.title') })
      return
    }
    const update = () => {
      const title = titleOf(page, countOf(watch))
      if (document.title !== title) document.title = title
    }
    update()
    return watch.subscribe(update)
  }, [watch, page, isReplay])
}

function titleOf(page: string | null, count: string): string {
  const name = page === null ? t('product') : t('shell.titled', { page })
  return count === '0' ? name : t('shell.counted', { count, title: name })
}

/** An exclamation mark if all values are old. */
function countOf(watch: Pick<Watch, 'get' | 'summary'>): string {
  return allStaleSince(watch.get()) === null ? String(watch.summary().attention) : '!'
}
