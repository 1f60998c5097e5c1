import { useCallback, useEffect, useState } from 'react'
import { t } from '../../app/i18n.ts'
import { useIsKiosk } from '../../app/query.ts'

/** The user sees no end at this distance. */
const nearby = '2000px'

interface ShowMoreProps {
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
  readonly length: number
}

/** A page to which the user returns is as long as before. */
let lastExtended: ShownLength = { key: '', length: partSize }

/** A list with another `key` begins with its first part. */
export function useFirstPart<Entry>(all: readonly Entry[], key: string) {
  const [extended, setExtended] = useState(lastExtended)
  const length = extended.key === key ? extended.length : partSize
  const showMore = useCallback(() => {
    lastExtended = { key, length: length + partSize }
    setExtended(lastExtended)
  }, [key, length])
  return { shown: all.length > length ? all.slice(0, length) : all, hidden: Math.max(0, all.length - length), showMore }
}
