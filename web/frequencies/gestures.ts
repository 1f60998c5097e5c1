import { handleWheel } from '../parts/canvas.ts'
import type { SpectrumCanvas } from './canvas.ts'
import type { SpectrumControl } from './control.ts'
import type { Span } from './span.ts'

interface GestureOptions {
  readonly element: HTMLElement
  readonly canvas: SpectrumCanvas
  readonly control: SpectrumControl
  onHover(id: string | null): void
  onChoose(id: string | null): void
  onStep(step: 'next' | 'previous' | 'first' | 'last'): void
}

/** CSS pixels. A longer movement is a drag. */
const dragPx = 5
const [mouseReach, touchReach] = [10, 22]
/** Share of the span by which a key moves it. */
const panShare = 0.2
export const zoomStep = 2

interface Press {
  readonly pointerId: number
  readonly x: number
  readonly span: Span
  isDrag: boolean
}

export function listenToGestures(options: GestureOptions): () => void {
  const { element, canvas, control, onHover, onChoose } = options
  const abort = new AbortController()
  const { signal } = abort
  const points = new Map<number, PointerEvent>()
  let press: Press | null = null
  let pinch: { readonly distance: number; readonly khz: number; readonly widthKhz: number } | null = null

  const middleOf = ([a, b]: readonly PointerEvent[]) => ((a?.clientX ?? 0) + (b?.clientX ?? 0)) / 2
  const distanceOf = ([a, b]: readonly PointerEvent[]) => Math.max(10, Math.abs((a?.clientX ?? 0) - (b?.clientX ?? 0)))
  const reachOf = ({ pointerType }: PointerEvent) => (pointerType === 'mouse' ? mouseReach : touchReach)

  function down(event: PointerEvent) {
    if (event.button !== 0) return
    points.set(event.pointerId, event)
    element.setPointerCapture(event.pointerId)
    const { span } = control
    if (points.size === 2) {
      const both = [...points.values()]
      const khz = span.fromKhz + span.widthKhz * canvas.share(middleOf(both))
      pinch = { distance: distanceOf(both), khz, widthKhz: span.widthKhz }
      press = null
      return
    }
    press = { pointerId: event.pointerId, x: event.clientX, span, isDrag: false }
  }

  function move(event: PointerEvent) {
    if (points.has(event.pointerId)) points.set(event.pointerId, event)
    if (pinch !== null && points.size === 2) {
      const both = [...points.values()]
      const widthKhz = (pinch.widthKhz * pinch.distance) / distanceOf(both)
      control.set({ fromKhz: pinch.khz - widthKhz * canvas.share(middleOf(both)), widthKhz })
      return
    }
    if (press === null || press.pointerId !== event.pointerId) {
      if (event.pointerType === 'mouse') onHover(canvas.locate(event.clientX, mouseReach))
      return
    }
    const moved = event.clientX - press.x
    if (!press.isDrag && Math.abs(moved) < dragPx) return
    if (!press.isDrag) onHover(null)
    press.isDrag = true
    const { fromKhz, widthKhz } = press.span
    control.set({ fromKhz: fromKhz - (moved / Math.max(1, canvas.width)) * widthKhz, widthKhz })
  }

  function up(event: PointerEvent) {
    points.delete(event.pointerId)
    if (pinch !== null) {
      if (points.size < 2) pinch = null
    } else if (press !== null && !press.isDrag && event.type === 'pointerup') {
      onChoose(canvas.locate(event.clientX, reachOf(event)))
    }
    press = null
  }

  function wheel(event: WheelEvent) {
    handleWheel(event, {
      zoom: (factor) => control.zoom(factor, canvas.share(event.clientX)),
      pan: (pixels) => control.pan((pixels / Math.max(1, canvas.width)) * control.span.widthKhz),
    })
  }

  function key(event: KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const action = keyActions[event.shiftKey && event.key.startsWith('Arrow') ? `Shift+${event.key}` : event.key]
    if (action === undefined) return
    event.preventDefault()
    action(options)
  }

  element.addEventListener('pointerdown', down, { signal })
  element.addEventListener('pointermove', move, { signal })
  element.addEventListener('pointerup', up, { signal })
  element.addEventListener('pointercancel', up, { signal })
  element.addEventListener('pointerleave', () => onHover(null), { signal })
  element.addEventListener('wheel', wheel, { signal, passive: false })
  element.addEventListener('keydown', key, { signal })
  return () => abort.abort()
}

const panBy =
  (shares: number) =>
  ({ control }: GestureOptions) =>
    control.pan(shares * control.span.widthKhz)

const keyActions: Readonly<Record<string, (options: GestureOptions) => void>> = {
  '+': ({ control }) => control.zoom(1 / zoomStep, 0.5),
  '=': ({ control }) => control.zoom(1 / zoomStep, 0.5),
  '-': ({ control }) => control.zoom(zoomStep, 0.5),
  '0': ({ control }) => control.reset(),
  ArrowLeft: ({ onStep }) => onStep('previous'),
  ArrowRight: ({ onStep }) => onStep('next'),
  Home: ({ onStep }) => onStep('first'),
  End: ({ onStep }) => onStep('last'),
  'Shift+ArrowLeft': panBy(-panShare),
  'Shift+ArrowRight': panBy(panShare),
  PageUp: panBy(-1),
  PageDown: panBy(1),
  Escape: ({ onChoose }) => onChoose(null),
}
