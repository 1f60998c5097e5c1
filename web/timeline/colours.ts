import type { StripColours } from './raster.ts'

const overlayNames = {
  text: 'text',
  textSoft: 'text-soft',
  page: 'surface-page',
  raised: 'surface-raised',
  line: 'line',
  lineStrong: 'line-strong',
  accent: 'accent',
  info: 'info-icon',
  warning: 'warning-icon',
  critical: 'critical-icon',
  idle: 'idle-icon',
  show: 'info-tile',
  onShow: 'on-info-tile',
} as const

export type OverlayColours = Readonly<Record<keyof typeof overlayNames, string>> & { readonly font: string }

export interface TimelineColours {
  readonly strips: StripColours
  readonly overlay: OverlayColours
}

export function readColours(): TimelineColours {
  const style = getComputedStyle(document.documentElement)
  const read = (name: string) => style.getPropertyValue(`--${name}`).trim()
  const canvas = document.createElement('canvas')
  canvas.width = 1
  canvas.height = 1
  const context = canvas.getContext('2d', { willReadFrequently: true })
  /** Blends the layers to one pixel. The browser converts its own colour names, such as CanvasText. */
  const pixel = (...layers: readonly (readonly [name: string, alpha: number])[]) => {
    if (context === null) return 0
    for (const [name, alpha] of layers) {
      context.globalAlpha = alpha
      context.fillStyle = read(name)
      context.fillRect(0, 0, 1, 1)
    }
    return new Uint32Array(context.getImageData(0, 0, 1, 1).data.buffer)[0] ?? 0
  }
  const overlay = Object.fromEntries(Object.entries(overlayNames).map(([key, name]) => [key, read(name)]))
  return {
    overlay: { ...overlay, font: style.fontFamily } as OverlayColours,
    strips: {
      page: pixel(['surface-page', 1]),
      track: pixel(['surface-card', 1]),
      faint: pixel(['surface-page', 1], ['line-strong', 0.45]),
      rf: pixel(['meter-rf', 1]),
      weak: pixel(['meter-rf-weak', 1]),
      audio: pixel(['surface-card', 1], ['meter-audio', 0.5]),
      audioOver: pixel(['meter-audio-over', 1]),
      battery: pixel(['meter-peak', 1]),
      batteryLow: pixel(['warning-icon', 1]),
      on: pixel(['ok-edge', 1]),
      muted: pixel(['info-icon', 1]),
      off: pixel(['idle-icon', 1]),
      offline: pixel(['critical-edge', 1]),
      missing: pixel(['surface-page', 1], ['line-strong', 0.7]),
    },
  }
}
