/** What the drawing of the strips means, with samples that are drawn as the strips are. */

import { useEffect, useRef } from 'react'
import { noValue, stateLetters } from '../../src/domain/history/columns.ts'
import { t } from '../i18n.ts'
import { readColours } from './colours.ts'
import { categoryIcons } from './event-list.tsx'
import { categoryNames, type EventCategory } from './events.ts'
import { createColumns, notLoaded } from './fold.ts'
import { drawShape } from './overlay.ts'
import { drawStrip } from './raster.ts'

const samples = ['on', 'weak', 'muted', 'off', 'offline', 'missing', 'notLoaded'] as const
type Sample = (typeof samples)[number]
const letters: Readonly<Record<Exclude<Sample, 'notLoaded'>, (typeof stateLetters)[number]>> = {
  ...{ on: '1', weak: '1', muted: 'm', off: '0', offline: 'x', missing: '-' },
}
const [width, height] = [48, 24]

export function Legend({ theme }: { theme: string }) {
  return (
    <details className="timeline-legend">
      <summary>{t('timeline.legend')}</summary>
      <ul>
        {samples.map((sample) => (
          <li key={sample}>
            <Swatch sample={sample} theme={theme} />
            {sample === 'weak' || sample === 'notLoaded' ? t(`timeline.${sample}`) : t(`timeline.states.${sample}`)}
          </li>
        ))}
        {categoryNames.map((category) => {
          const Icon = categoryIcons[category]
          return (
            <li key={category}>
              <Shape category={category} theme={theme} />
              <Icon className="icon" aria-hidden="true" />
              {t(`timeline.categories.${category}`)}
            </li>
          )
        })}
      </ul>
      <p>{t('timeline.legendText')}</p>
      <p>{t('timeline.keys')}</p>
    </details>
  )
}

function Swatch({ sample, theme }: { sample: Sample; theme: string }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours depend on the theme.
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context) return
    const image = new ImageData(width, height)
    const pixels = { data: new Uint32Array(image.data.buffer), width, height }
    const columns = createColumns(width)
    columns.state.fill(sample === 'notLoaded' ? notLoaded : stateLetters.indexOf(letters[sample]))
    for (const levels of [columns.rfMin, columns.rfMax, columns.audio, columns.battery]) levels.fill(noValue)
    if (sample === 'on' || sample === 'weak' || sample === 'muted') {
      columns.rfMin.fill(-60)
      columns.rfMax.fill(-52)
      if (sample !== 'muted') columns.audio.fill(-25)
    }
    if (sample === 'weak') {
      columns.weak.fill(1, width / 2, width / 2 + 2)
      columns.rfMin.fill(-97, width / 2, width / 2 + 2)
    }
    const box = { top: 0, height, isDetailed: false, scale: 1 }
    drawStrip({ pixels, columns, colours: readColours().strips, box, offset: 0, first: 0, last: width })
    context.putImageData(image, 0, 0)
  }, [sample, theme])
  return <canvas ref={canvas} width={width} height={height} />
}

function Shape({ category, theme }: { category: EventCategory; theme: string }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours depend on the theme.
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context) return
    const { overlay } = readColours()
    context.clearRect(0, 0, 16, 16)
    context.fillStyle = category === 'marker' ? overlay.accent : overlay.text
    context.strokeStyle = overlay.page
    drawShape(context, category, 8, 8)
  }, [category, theme])
  return <canvas ref={canvas} width={16} height={16} />
}
