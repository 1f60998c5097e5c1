import { useCallback } from 'react'
import { groupBy } from '../../src/domain/group-by.ts'

/**
 * Text fields and lists of choices keep their own tab stops, because they need the arrow keys. So do menus and the
 * dialogs that a region opens.
 */
const controls = ':is(a[href], button, summary, input[type=checkbox]):not(:disabled, [popover] *, :scope dialog *)'
const items = 'li, tr, .card'

/**
 * Makes a region one tab stop: the control that had the focus last, otherwise the first one. The arrow keys left and
 * right move between its controls, up and down to the nearest item, such as a card or a row.
 */
export function useRegion<Region extends HTMLElement>() {
  return useCallback((region: Region | null) => (region === null ? undefined : openRegion(region)), [])
}

function openRegion(region: HTMLElement): () => void {
  let focused: HTMLElement | undefined
  const list = () => [...region.querySelectorAll<HTMLElement>(controls)]
  const update = () => {
    const all = list()
    if (focused !== undefined && !all.includes(focused)) focused = undefined
    const stop = focused ?? all.find((control) => control.checkVisibility())
    for (const control of all) {
      const tabIndex = control === stop ? 0 : -1
      if (control.getAttribute('tabindex') !== String(tabIndex)) control.tabIndex = tabIndex
    }
  }
  const focus = ({ target }: FocusEvent) => {
    if (!(target instanceof HTMLElement) || !list().includes(target)) return
    focused = target
    update()
  }
  const press = (event: KeyboardEvent) => {
    const { key, target } = event
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.defaultPrevented) return
    const all = list()
    if (!(target instanceof HTMLElement) || !all.includes(target)) return
    const shown = all.filter((control) => control.checkVisibility())
    const next = nextControl(shown, target, key)
    if (next === undefined) return
    event.preventDefault()
    next.focus()
    next.scrollIntoView({ block: 'nearest' })
  }
  const isElement = (node: Node) => node instanceof HTMLElement
  const observer = new MutationObserver((changes) => {
    const hasChanged = changes.some(
      ({ type, addedNodes, removedNodes }) =>
        type === 'attributes' || [...addedNodes].some(isElement) || [...removedNodes].some(isElement),
    )
    if (hasChanged) update()
  })
  update()
  observer.observe(region, { childList: true, subtree: true, attributeFilter: ['disabled'] })
  region.addEventListener('focusin', focus)
  region.addEventListener('keydown', press)
  return () => {
    observer.disconnect()
    region.removeEventListener('focusin', focus)
    region.removeEventListener('keydown', press)
  }
}

function nextControl(all: readonly HTMLElement[], current: HTMLElement, key: string): HTMLElement | undefined {
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
      return inNearestItem(all, current, key === 'ArrowDown' ? 1 : -1)
    default:
      return undefined
  }
}

/** The control at the same position in the nearest item above or below. */
function inNearestItem(all: readonly HTMLElement[], current: HTMLElement, sign: 1 | -1): HTMLElement | undefined {
  const byItem = groupBy(all, (control) => control.closest(items) ?? control)
  const own = current.closest(items) ?? current
  const from = own.getBoundingClientRect()
  let best: { item: Element; down: number; across: number } | undefined
  for (const item of byItem.keys()) {
    const { left, top } = item.getBoundingClientRect()
    const [down, across] = [(top - from.top) * sign, Math.abs(left - from.left)]
    // Items of one row may differ by a fraction of a pixel.
    if (down < 2) continue
    if (best === undefined || down < best.down - 2 || (down < best.down + 2 && across < best.across)) {
      best = { item, down, across }
    }
  }
  const found = best === undefined ? [] : (byItem.get(best.item) ?? [])
  return found[Math.min(byItem.get(own)?.indexOf(current) ?? 0, found.length - 1)]
}
