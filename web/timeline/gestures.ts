import type { EventBody } from '../../src/contract/history.ts'
import { handleWheel } from '../parts/canvas.ts'
import { startOf } from '../parts/events.ts'
import type { Place, TimelineCanvas } from './canvas.ts'
import type { TimelineControl } from './control.ts'
import type { TimeRange } from './range.ts'

interface GestureOptions {
  readonly element: HTMLElement
  readonly canvas: TimelineCanvas
  readonly control: TimelineControl
  isSelecting(): boolean
  now(): number
  onClick(place: Place): void
  /** Null: the pointer has left the mark. */
  onHover(event: EventBody | null, clientX: number, clientY: number): void
  neighbour(direction: 1 | -1): EventBody | null
  onEvent(event: EventBody): void
}

/** CSS pixels. A longer movement is a drag. */
const dragPx = 5
const [mouseReach, touchReach] = [8, 16]

interface Press {
  readonly pointerId: number
  readonly x: number
  readonly y: number
  readonly range: TimeRange
  readonly at: number
  isDrag: boolean
}

export function listenToGestures(options: GestureOptions): () => void {
  const { element, canvas, control } = options
  const abort = new AbortController()
  const { signal } = abort
  const points = new Map<number, PointerEvent>()
  let press: Press | null = null
  let pinch: { readonly distance: number; readonly at: number; readonly span: number } | null = null

  const isOnButton = ({ target }: Event) => target instanceof Element && target.closest('button') !== null
  const reachOf = ({ pointerType }: PointerEvent) => (pointerType === 'mouse' ? mouseReach : touchReach)

  function down(event: PointerEvent) {
    if (event.button !== 0 || isOnButton(event)) return
    points.set(event.pointerId, event)
    element.setPointerCapture(event.pointerId)
    if (points.size === 2) {
      const [a, b] = [...points.values()] as [PointerEvent, PointerEvent]
      const { range } = control.get()
      const at = range.from + range.span * canvas.share((a.clientX + b.clientX) / 2)
      pinch = { distance: Math.max(10, Math.abs(a.clientX - b.clientX)), at, span: range.span }
      press = null
      return
    }
    const { at } = canvas.locate(event.clientX, event.clientY, 0)
    const { range } = control.get()
    press = { pointerId: event.pointerId, x: event.clientX, y: event.clientY, range, at, isDrag: false }
  }

  function move(event: PointerEvent) {
    if (points.has(event.pointerId)) points.set(event.pointerId, event)
    if (pinch !== null && points.size === 2) {
      const [a, b] = [...points.values()] as [PointerEvent, PointerEvent]
      const span = (pinch.span * pinch.distance) / Math.max(10, Math.abs(a.clientX - b.clientX))
      const { range } = control.get()
      control.zoom(span / range.span, canvas.share((a.clientX + b.clientX) / 2))
      const moved = control.get().range
      if (!control.get().isFollowing) {
        control.show({ from: pinch.at - moved.span * canvas.share((a.clientX + b.clientX) / 2), span: moved.span })
      }
      return
    }
    if (press === null || press.pointerId !== event.pointerId) {
      if (event.pointerType === 'mouse') hover(event)
      return
    }
    const moved = event.clientX - press.x
    if (!press.isDrag && Math.abs(moved) < dragPx) return
    press.isDrag = true
    options.onHover(null, 0, 0)
    if (options.isSelecting() || event.shiftKey) {
      const { at } = canvas.locate(event.clientX, event.clientY, 0)
      control.select({ from: Math.min(press.at, at), to: Math.max(press.at, at) })
      return
    }
    const { from, span } = press.range
    control.show({ from: from - (moved / Math.max(1, canvas.width)) * span, span })
  }

  function up(event: PointerEvent) {
    points.delete(event.pointerId)
    if (pinch !== null) {
      if (points.size < 2) pinch = null
      press = null
      return
    }
    if (press !== null && !press.isDrag && event.type === 'pointerup') {
      options.onClick(canvas.locate(event.clientX, event.clientY, reachOf(event)))
    }
    press = null
  }

  function hover(event: PointerEvent) {
    canvas.setCursor(event.clientX)
    const { mark, clip } = canvas.locate(event.clientX, event.clientY, mouseReach)
    element.toggleAttribute('data-clip', clip !== null)
    options.onHover(mark?.event ?? null, event.clientX, event.clientY)
  }

  function leave() {
    canvas.setCursor(null)
    options.onHover(null, 0, 0)
  }

  function wheel(event: WheelEvent) {
    handleWheel(event, {
      zoom: (factor) => control.zoom(factor, canvas.share(event.clientX)),
      pan: (pixels) => control.pan((pixels / Math.max(1, canvas.width)) * control.get().range.span),
    })
  }

  function key(event: KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey || isOnButton(event)) return
    const action = keyActions[event.key]
    if (action === undefined) return
    event.preventDefault()
    action(options, event.shiftKey)
  }

  element.addEventListener('pointerdown', down, { signal })
  element.addEventListener('pointermove', move, { signal })
  element.addEventListener('pointerup', up, { signal })
  element.addEventListener('pointercancel', up, { signal })
  element.addEventListener('pointerleave', leave, { signal })
  element.addEventListener('wheel', wheel, { signal, passive: false })
  element.addEventListener('keydown', key, { signal })
  return () => abort.abort()
}

/** A key moves the playhead by the first share of the range, with Shift the range by the second. */
const [playheadShare, panShare] = [0.01, 0.25]

function step({ control, now }: GestureOptions, direction: 1 | -1, isShift: boolean) {
  const { range, playhead, isFollowing } = control.get()
  if (isShift) return control.pan(direction * range.span * panShare)
  const at = playhead ?? (isFollowing ? now() : range.from + range.span / 2)
  control.jump(at + direction * range.span * playheadShare)
}

function toEvent(options: GestureOptions, direction: 1 | -1) {
  const event = options.neighbour(direction)
  if (event === null) return
  options.control.jump(startOf(event), event.channel_id)
  options.onEvent(event)
}

/** Zooms around the playhead if it is visible. */
export function zoomAtPlayhead(control: TimelineControl, factor: number): void {
  const { range, playhead } = control.get()
  const share = playhead === null ? -1 : (playhead - range.from) / range.span
  control.zoom(factor, share >= 0 && share <= 1 ? share : null)
}

const keyActions: Readonly<Record<string, (options: GestureOptions, isShift: boolean) => void>> = {
  '+': ({ control }) => zoomAtPlayhead(control, 0.5),
  '=': ({ control }) => zoomAtPlayhead(control, 0.5),
  '-': ({ control }) => zoomAtPlayhead(control, 2),
  ArrowLeft: (options, isShift) => step(options, -1, isShift),
  ArrowRight: (options, isShift) => step(options, 1, isShift),
  PageUp: ({ control }) => control.pan(-control.get().range.span),
  PageDown: ({ control }) => control.pan(control.get().range.span),
  Home: ({ control }) => control.jump(control.get().range.from),
  End: ({ control }) => control.follow(),
  ',': (options) => toEvent(options, -1),
  '.': (options) => toEvent(options, 1),
  Escape: ({ control }) => control.select(null),
}
