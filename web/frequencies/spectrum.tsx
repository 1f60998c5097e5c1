/** The table has the same data. */

import { CircleHelp, Minus, Plus, RotateCcw } from 'lucide-react'
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { useServices } from '../app/context.ts'
import { formatMegahertz } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useColourChanges } from '../parts/canvas.ts'
import { Menu } from '../parts/toolbar/menu.tsx'
import { SpectrumCanvas } from './canvas.ts'
import type { ShownCarrier } from './carriers.ts'
import { type ConflictCount, countText } from './conflict-text.ts'
import type { SpectrumControl } from './control.ts'
import type { Scene } from './drawing.ts'
import { listenToGestures, zoomStep } from './gestures.ts'
import { tickText } from './layout.ts'
import { currentLevels, levelText, noiseText, type RecordedNoise, useLevelText } from './live-levels.ts'
import type { LiveSpectrum } from './live-spectrum.ts'

interface SpectrumProps {
  readonly control: SpectrumControl
  readonly scene: Scene
  readonly live: LiveSpectrum
  readonly chosenId: string | null
  onChoose(id: string | null): void
  conflictsOf(id: string): ConflictCount
}

export function Spectrum({ control, scene, live, chosenId, onChoose, conflictsOf }: SpectrumProps) {
  const { watch } = useServices()
  const element = useRef<HTMLDivElement>(null)
  const canvasElement = useRef<HTMLCanvasElement>(null)
  const canvas = useRef<SpectrumCanvas | null>(null)
  const [hoveredId, setHoveredId] = useState<string | null>(null)
  const latest = useRef({ scene, chosenId, onChoose })
  latest.current = { scene, chosenId, onChoose }

  useEffect(() => {
    if (element.current === null || canvasElement.current === null) return
    const levels = {
      of: (carrier: ShownCarrier) => currentLevels(watch, carrier),
      subscribe: watch.subscribeLevels,
    }
    const created = new SpectrumCanvas(canvasElement.current, { control, levels, live })
    canvas.current = created
    created.setScene(latest.current.scene)
    const unlisten = listenToGestures({
      ...{ element: element.current, canvas: created, control },
      onHover: setHoveredId,
      onChoose: (id) => latest.current.onChoose(id),
      onStep(step) {
        const next = findStep(latest.current.scene.carriers, latest.current.chosenId, step)
        if (next === undefined) return
        control.show([next.khz])
        latest.current.onChoose(next.id)
      },
    })
    return () => {
      canvas.current = null
      unlisten()
      created.close()
    }
  }, [control, live, watch])
  useEffect(() => canvas.current?.setScene(scene), [scene])
  useColourChanges(useCallback(() => canvas.current?.recolour(), []))

  const detailed = scene.carriers.find(({ id }) => id === (hoveredId ?? chosenId))
  const chosenIndex = scene.carriers.findIndex(({ id }) => id === chosenId)
  const chosen = scene.carriers[chosenIndex]
  return (
    <section className="spectrum screen-only" aria-label={t('frequencies.spectrum.label')}>
      <div className="spectrum-field" ref={element}>
        <canvas className="spectrum-canvas" ref={canvasElement} />
        <div
          className="spectrum-focus"
          role="slider"
          tabIndex={0}
          aria-label={t('frequencies.spectrum.carrier')}
          aria-valuemin={0}
          aria-valuemax={scene.carriers.length}
          aria-valuenow={chosenIndex + 1}
          aria-valuetext={
            chosen === undefined ? t('frequencies.spectrum.none') : summaryOf(chosen, conflictsOf(chosen.id))
          }
          aria-keyshortcuts="ArrowLeft ArrowRight Home End + - 0 Escape"
        />
        {detailed === undefined ? null : (
          <Details
            carrier={detailed}
            noise={scene.noise.get(detailed.id)}
            conflicts={conflictsOf(detailed.id)}
            control={control}
            positionOf={(id) => canvas.current?.positionOf(id) ?? null}
          />
        )}
      </div>
      <SpectrumTools control={control} />
    </section>
  )
}

function findStep(
  carriers: readonly ShownCarrier[],
  chosenId: string | null,
  step: 'next' | 'previous' | 'first' | 'last',
) {
  const index = carriers.findIndex(({ id }) => id === chosenId)
  switch (step) {
    case 'first':
      return carriers[0]
    case 'last':
      return carriers.at(-1)
    case 'next':
      return carriers[Math.min(carriers.length - 1, index + 1)]
    case 'previous':
      return index < 0 ? carriers.at(-1) : carriers[Math.max(0, index - 1)]
  }
}

function SpectrumTools({ control }: { control: SpectrumControl }) {
  const span = useSyncExternalStore(control.subscribe, () => control.span)
  const from = Math.round(span.fromKhz / 25) * 25
  const to = Math.round((span.fromKhz + span.widthKhz) / 25) * 25
  return (
    <div className="spectrum-tools">
      <div className="spectrum-range">
        <p className="tabular">
          {t('frequencies.spectrum.range', { from: tickText(from), to: formatMegahertz(tickText(to)) })}
        </p>
      </div>
      <button type="button" className="choice" onClick={() => control.zoom(1 / zoomStep, 0.5)}>
        <Plus className="icon" aria-hidden="true" />
        <span className="visually-hidden">{t('frequencies.spectrum.zoomIn')}</span>
      </button>
      <button type="button" className="choice" onClick={() => control.zoom(zoomStep, 0.5)}>
        <Minus className="icon" aria-hidden="true" />
        <span className="visually-hidden">{t('frequencies.spectrum.zoomOut')}</span>
      </button>
      <button type="button" className="choice" onClick={() => control.reset()}>
        <RotateCcw className="icon" aria-hidden="true" />
        <span className="visually-hidden">{t('frequencies.spectrum.reset')}</span>
      </button>
      <Menu label={t('frequencies.spectrum.legend')} button={<CircleHelp className="icon" aria-hidden="true" />}>
        <p className="spectrum-legend">{t('frequencies.spectrum.hint')}</p>
        <p className="spectrum-legend">{t('frequencies.spectrum.moreHint')}</p>
      </Menu>
    </div>
  )
}

export function stateText({ state }: ShownCarrier): string {
  return t(`frequencies.states.${state}`)
}

/** For screen readers. Uses the level of the response, because they would read every change. */
function summaryOf(carrier: ShownCarrier, conflicts: ConflictCount): string {
  const { label, mhz, state, rf_level, noise_dbm } = carrier
  const level = levelText({ rf: state === 'on' ? rf_level : null, noise: noise_dbm })
  const parts = [label, formatMegahertz(mhz), stateText(carrier), level]
  return [...parts, conflictsText(conflicts)].filter((part) => part !== null).join(', ')
}

function conflictsText(conflicts: ConflictCount): string | null {
  const text = countText(conflicts)
  return text === null ? null : t('frequencies.conflictCount', { count: conflicts.count, text })
}

interface DetailsProps {
  readonly carrier: ShownCarrier
  readonly noise: RecordedNoise | undefined
  readonly conflicts: ConflictCount
  readonly control: SpectrumControl
  positionOf(id: string): { readonly x: number; readonly y: number } | null
}

function Details({ carrier, noise, conflicts, control, positionOf }: DetailsProps) {
  const level = useLevelText(carrier)
  const box = useRef<HTMLDivElement>(null)
  const { id } = carrier
  const latest = useRef(positionOf)
  latest.current = positionOf
  // Moved without React, because the spectrum moves in every frame.
  useEffect(() => {
    const place = () => {
      const element = box.current
      const at = latest.current(id)
      if (element === null) return
      element.hidden = at === null
      if (at === null) return
      const width = element.parentElement?.clientWidth ?? 0
      const isRight = at.x > width / 2
      element.style.left = isRight ? '' : `${at.x + 12}px`
      element.style.right = isRight ? `${width - at.x + 12}px` : ''
      element.style.top = `${Math.max(4, at.y - 12)}px`
    }
    place()
    return control.subscribe(place)
  })
  return (
    <div className="spectrum-details" ref={box} aria-hidden="true">
      <strong>
        <bdi>{carrier.label}</bdi>
      </strong>
      <span className="tabular">
        {[formatMegahertz(carrier.mhz), carrier.tv_channel && t('frequencies.tvChannel', { name: carrier.tv_channel })]
          .filter(Boolean)
          .join(' · ')}
      </span>
      <span>{[stateText(carrier), level].filter((part) => part !== null).join(' · ')}</span>
      {noise === undefined ? null : <span>{noiseText(noise)}</span>}
      {conflicts.count === 0 ? null : <span>{conflictsText(conflicts)}</span>}
    </div>
  )
}
