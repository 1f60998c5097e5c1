/** The end of a list of which only a part is shown: shows more as soon as it comes near, or by a button. */

import { useEffect, useState } from 'react'
import { t } from '../app/i18n.ts'
import { useIsKiosk } from '../app/kiosk.ts'

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
