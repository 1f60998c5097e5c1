/** The end of a list of which only a part is shown: shows more as soon as it comes near, or by a button. */

import { useCallback, useEffect, useState } from 'react'
import { t } from '../app/i18n.ts'
import { useIsKiosk } from '../app/query.ts'

/** The distance to the visible part at which more is shown, so that the user sees no end. */
const nearby = '2000px'

interface ShowMoreProps {
  /** How many entries are not shown. */
  readonly hidden: number
  onShow(): void
}

export function ShowMore({ hidden, onShow }: ShowMoreProps) {
  const [end, setEnd] = useState<HTMLElement | null>(null)
  const isKiosk = useIsKiosk()
  useEffect(() => {
    if (end === null) return
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) onShow()
      },
      { rootMargin: nearby },
    )
    observer.observe(end)
    return () => observer.disconnect()
  }, [end, onShow])
  if (hidden === 0) return null
  if (isKiosk) return <p ref={setEnd}>{t('live.showMore', { count: hidden })}</p>
  return (
    <button ref={setEnd} type="button" className="choice show-more" onClick={onShow}>
      {t('live.showMore', { count: hidden })}
    </button>
  )
}

const partSize = 300

interface ShownLength {
  readonly key: string
  /** How many entries are shown. */
  readonly length: number
}

/** The list that was last extended, so that a page to which the user returns is as long as before. */
let lastExtended: ShownLength = { key: '', length: partSize }

/** `key` identifies the list; a list with another key begins with its first part again. */
export function useFirstPart<Entry>(all: readonly Entry[], key: string) {
  const [extended, setExtended] = useState(lastExtended)
  const length = extended.key === key ? extended.length : partSize
  const showMore = useCallback(() => {
    lastExtended = { key, length: length + partSize }
    setExtended(lastExtended)
  }, [key, length])
  return { shown: all.length > length ? all.slice(0, length) : all, hidden: Math.max(0, all.length - length), showMore }
}
