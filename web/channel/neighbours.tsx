import { Link, useNavigate } from '@tanstack/react-router'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useEffect, useSyncExternalStore } from 'react'
import { useServices } from '../app/context.ts'
import { t } from '../app/i18n.ts'

export function Neighbours({ channelId }: { channelId: number }) {
  const { watch } = useServices()
  const navigate = useNavigate()
  const cards = useSyncExternalStore(watch.subscribe, watch.cards)
  const at = cards.findIndex((card) => card.channelId === channelId)
  const neighbours = { previous: cards[at - 1], next: cards[at + 1] }
  const previousId = neighbours.previous?.channelId
  const nextId = neighbours.next?.channelId
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const id = event.key === 'ArrowLeft' ? previousId : event.key === 'ArrowRight' ? nextId : undefined
      if (id === undefined || isForAnother(event)) return
      event.preventDefault()
      void navigate({ to: '/channels/$id', params: { id: String(id) }, replace: true })
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [navigate, previousId, nextId])
  return (
    <nav className="neighbours" aria-label={t('channel.neighbours')}>
      {(['previous', 'next'] as const).map((direction) => {
        const card = neighbours[direction]
        const Icon = direction === 'previous' ? ChevronLeft : ChevronRight
        return card === undefined ? (
          <span key={direction} className="choice" aria-disabled="true">
            <Icon className="icon" aria-hidden="true" />
          </span>
        ) : (
          <Link
            key={direction}
            className="choice"
            to="/channels/$id"
            params={{ id: String(card.channelId) }}
            replace={true}
            aria-label={t(`channel.neighbour.${direction}`, { name: `${card.slot} ${card.name ?? t('card.noName')}` })}
            aria-keyshortcuts={direction === 'previous' ? 'ArrowLeft' : 'ArrowRight'}
          >
            <Icon className="icon" aria-hidden="true" />
          </Link>
        )
      })}
    </nav>
  )
}

/** A field, the chart, a dialog or another handler uses the key. */
function isForAnother({ defaultPrevented, ctrlKey, metaKey, altKey, shiftKey, target }: KeyboardEvent): boolean {
  if (defaultPrevented || ctrlKey || metaKey || altKey || shiftKey) return true
  if (document.querySelector('dialog[open]') !== null) return true
  return target instanceof Element && target.closest('input, select, textarea, [contenteditable], .history') !== null
}
