import { maxWaterfallLines } from '../../src/domain/frequencies/sweeps/sweep.ts'
import { formatTime } from '../app/format.ts'
import { readColours, type SpectrumColours } from './colours.ts'
import type { SpectrumControl } from './control.ts'
import { khzToX, ticksOf, tickText } from './layout.ts'
import type { LiveSpectrum, ShownSweeps } from './live-spectrum.ts'
import { levelRange, waterfallBytes } from './waterfall-pixels.ts'

/** In CSS pixels. */
const [axisHeight, textPx, timeLines] = [18, 11, 25]
/** How much of a stopped waterfall is seen. */
const oldAlpha = 0.45

/** Draws the waterfall in the range of the spectrum above it, the newest sweep at the top. */
export class WaterfallCanvas {
  readonly #canvas: HTMLCanvasElement
  readonly #context: CanvasRenderingContext2D | null
  readonly #control: SpectrumControl
  readonly #spectrum: LiveSpectrum
  readonly #sized: ResizeObserver
  readonly #unsubscribe: readonly (() => void)[]
  readonly #picture = document.createElement('canvas')
  #colours: SpectrumColours | null = null
  #palette: Uint32Array | null = null
  #frame = 0

  constructor(canvas: HTMLCanvasElement, control: SpectrumControl, spectrum: LiveSpectrum) {
    this.#canvas = canvas
    this.#context = canvas.getContext('2d', { alpha: false })
    this.#control = control
    this.#spectrum = spectrum
    this.#sized = new ResizeObserver(() => this.#wake())
    this.#sized.observe(canvas)
    this.#unsubscribe = [control.subscribe(() => this.#wake()), spectrum.subscribe(() => this.#wake())]
  }

  /** Call after the colours or the typeface have changed. */
  readonly recolour = (): void => {
    this.#colours = null
    this.#palette = null
    this.#wake()
  }

  close(): void {
    cancelAnimationFrame(this.#frame)
    this.#sized.disconnect()
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
  }

  #wake(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#paint())
  }

  #paint(): void {
    this.#frame = 0
    const { clientWidth: width, clientHeight: height } = this.#canvas
    const context = this.#context
    if (context === null || width < 1 || height <= axisHeight) return
    const [pixelWidth, pixelHeight] = [Math.round(width * devicePixelRatio), Math.round(height * devicePixelRatio)]
    if (this.#canvas.width !== pixelWidth) this.#canvas.width = pixelWidth
    if (this.#canvas.height !== pixelHeight) this.#canvas.height = pixelHeight
    this.#colours ??= readColours()
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0)
    context.fillStyle = this.#colours.page
    context.fillRect(0, 0, width, height)
    const sweeps = this.#spectrum.sweeps()
    const plotHeight = height - axisHeight
    if (sweeps !== null && sweeps.lines.length > 0) {
      this.#drawPicture(sweeps, pixelWidth)
      context.imageSmoothingEnabled = false
      context.globalAlpha = this.#spectrum.isRunning() ? 1 : oldAlpha
      context.drawImage(this.#picture, 0, 0, width, (plotHeight * sweeps.lines.length) / maxWaterfallLines)
      context.globalAlpha = 1
      this.#drawTimes(context, sweeps, plotHeight)
    }
    this.#drawAxis(context, width, height)
  }

  #drawPicture(sweeps: ShownSweeps, width: number): void {
    const { lines } = sweeps
    const picture = this.#picture
    if (picture.width !== width) picture.width = width
    if (picture.height !== lines.length) picture.height = lines.length
    const context = picture.getContext('2d')
    if (context === null) return
    this.#palette ??= paletteOf(this.#colours ?? readColours())
    const palette = this.#palette
    const bytes = waterfallBytes(sweeps, { ...this.#control.span, width }, levelRange(sweeps))
    const image = context.createImageData(width, lines.length)
    const pixels = new Uint32Array(image.data.buffer)
    for (let index = 0; index < bytes.length; index++) pixels[index] = palette[bytes[index] as number] as number
    context.putImageData(image, 0, 0)
  }

  /** The times of the lines at equal distances. */
  #drawTimes(context: CanvasRenderingContext2D, { lines }: ShownSweeps, plotHeight: number): void {
    const colours = this.#colours ?? readColours()
    context.font = `500 ${textPx}px ${colours.font}`
    context.textAlign = 'left'
    context.textBaseline = 'top'
    for (let line = 0; line < lines.length; line += timeLines) {
      const y = (plotHeight * line) / maxWaterfallLines
      const text = formatTime(lines.at(-1 - line)?.at ?? 0)
      context.globalAlpha = 0.75
      context.fillStyle = colours.page
      context.fillRect(0, y, context.measureText(text).width + 8, textPx + 5)
      context.globalAlpha = 1
      context.fillStyle = colours.text
      context.fillText(text, 4, y + 3)
    }
  }

  #drawAxis(context: CanvasRenderingContext2D, width: number, height: number): void {
    const colours = this.#colours ?? readColours()
    context.font = `500 ${textPx}px ${colours.font}`
    context.fillStyle = colours.textSoft
    context.textAlign = 'center'
    context.textBaseline = 'middle'
    const scale = { ...this.#control.span, width }
    for (const khz of ticksOf(scale)) {
      const x = Math.min(width - 16, Math.max(16, khzToX(khz, scale)))
      context.fillText(tickText(khz), x, height - axisHeight / 2 + 1)
    }
  }
}

/** Pixels for 256 bytes: 0 is transparent, and the others go from the background through the accent to the text. */
function paletteOf({ page, accent, text }: SpectrumColours): Uint32Array {
  const canvas = document.createElement('canvas')
  canvas.width = 256
  canvas.height = 1
  const context = canvas.getContext('2d')
  if (context === null) return new Uint32Array(256)
  const gradient = context.createLinearGradient(0, 0, 256, 0)
  for (const [at, colour] of [[0, page] as const, [0.55, accent] as const, [1, text] as const]) {
    gradient.addColorStop(at, colour)
  }
  context.fillStyle = gradient
  context.fillRect(0, 0, 256, 1)
  const palette = new Uint32Array(context.getImageData(0, 0, 256, 1).data.buffer.slice(0))
  palette[0] = 0
  return palette
}
