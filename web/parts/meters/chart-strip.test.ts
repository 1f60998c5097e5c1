import { expect, it, onTestFinished, vi } from 'vitest'
import { createHistory, sampleMs } from '../../app/history.ts'
import type { Palette } from '../../app/painter.ts'
import type { Levels } from '../../app/watch.ts'
import { createChartStrip } from './chart-strip.ts'

it('draws the lowest level inside the box, which is all that the next drawing erases', () => {
  vi.stubGlobal('devicePixelRatio', 2)
  onTestFinished(() => void vi.unstubAllGlobals())
  const levels: Levels = {
    ...{ rf: -120, rfPercent: null, rfA: null, rfB: null, antennas: null, quality: null },
    ...{ audio: null, audioPeak: null, rfTone: 'good', isLive: true },
  }
  const history = createHistory(0)
  history.add(5, levels)
  history.advance(4 * sampleMs, 8 * sampleMs)
  const strip = createChartStrip({ element: {} as HTMLElement, channelId: 5, history, read: () => levels })
  const box = { left: 0, top: 10, width: 480, height: 40 }
  const bottoms: number[] = []
  const context = {
    fillRect: (_left: number, top: number, _width: number, height: number) => bottoms.push(top + height),
  }
  strip.draw(context as unknown as CanvasRenderingContext2D, box, {} as Palette)
  expect(bottoms.length).toBeGreaterThan(1)
  expect(Math.max(...bottoms)).toBe(50)
})
