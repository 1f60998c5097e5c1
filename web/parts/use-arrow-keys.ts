import type { KeyboardEvent } from 'react'

const links = '.card-link, .site-link, .channels tbody th a'

type Direction = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown'

export function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const { key, target, currentTarget } = event
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
  if (!(target instanceof HTMLElement) || !target.matches(links)) return
  const all = [...currentTarget.querySelectorAll<HTMLElement>(links)]
  const next = nextLink(all, target, key)
  if (next === undefined) return
  event.preventDefault()
  next.focus()
  next.scrollIntoView({ block: 'nearest' })
}

function nextLink(all: readonly HTMLElement[], current: HTMLElement, key: string): HTMLElement | undefined {
  const index = all.indexOf(current)
  switch (key) {
    case 'Home':
      return all[0]
    case 'End':
      return all.at(-1)
    case 'ArrowLeft':
      return all[index - 1]
    case 'ArrowRight':
      return all[index + 1]
    case 'ArrowUp':
    case 'ArrowDown':
      return nearestIn(all, current, key)
    default:
      return undefined
  }
}

function nearestIn(all: readonly HTMLElement[], current: HTMLElement, key: Direction): HTMLElement | undefined {
  const from = boxOf(current)
  const sign = key === 'ArrowDown' ? 1 : -1
  let best: { link: HTMLElement; down: number; across: number } | undefined
  for (const link of all) {
    const { left, top } = boxOf(link)
    const [down, across] = [(top - from.top) * sign, Math.abs(left - from.left)]
    // Links of one row may differ by a fraction of a pixel.
    if (down < 2) continue
    if (best === undefined || down < best.down - 2 || (down < best.down + 2 && across < best.across)) {
      best = { link, down, across }
    }
  }
  return best?.link
}

/** The browser does not lay out the content of cards outside of the viewport. */
function boxOf(link: HTMLElement): DOMRect {
  return (link.closest('.card, tr') ?? link).getBoundingClientRect()
}
