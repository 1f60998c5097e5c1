/** The end of a list of which only a part is shown: shows more as soon as it comes near, or by a button. */

import { useEffect, useRef } from 'react'
import { t } from '../i18n.ts'

/** The distance to the visible part at which more is shown, so that the user sees no end. */
const nearby = '2000px'

interface ShowMoreProps {
  /** How many entries are not shown. */
  readonly hidden: number
  onShow(): void
}

export function ShowMore({ hidden, onShow }: ShowMoreProps) {
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (button.current === null) return
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) onShow()
      },
      { rootMargin: nearby },
    )
    observer.observe(button.current)
    return () => observer.disconnect()
  }, [onShow])
  if (hidden === 0) return null
  return (
    <button ref={button} type="button" className="choice show-more" onClick={onShow}>
      {t('live.showMore', { count: hidden })}
    </button>
  )
}
