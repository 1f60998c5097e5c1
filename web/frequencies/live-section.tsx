/** The sweeps of an analyser. The last one and the maximum are also drawn in the spectrum above. */

import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { SweepsBody } from '../../src/contract/sweeps.ts'
import { formatMhz } from '../../src/domain/frequencies/carrier.ts'
import { useServices } from '../app/context.ts'
import { formatAge, formatDateTime, formatTime, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useNow } from '../app/now.ts'
import { useRequest, useResource } from '../app/resource.ts'
import { serviceNow } from '../app/service-time.ts'
import { useMay } from '../app/session.ts'
import { useColourChanges } from '../parts/canvas.ts'
import { Removal } from '../parts/dialogs/dialog.tsx'
import { FormDialog } from '../parts/dialogs/form-dialog.tsx'
import { useShowMessage } from '../parts/dialogs/messages.tsx'
import { Choice, ChoiceButtons } from '../parts/forms/choice.tsx'
import { CopyField } from '../parts/forms/copy-field.tsx'
import { Field } from '../parts/forms/field.tsx'
import { Loaded } from '../parts/loaded.tsx'
import type { SpectrumControl } from './control.ts'
import { isRunning, type ShownSweeps } from './live-spectrum.ts'
import { LiveTables } from './live-tables.tsx'
import type { useLiveSpectrum } from './use-live-spectrum.ts'
import { WaterfallCanvas } from './waterfall-canvas.ts'
import { levelRange } from './waterfall-pixels.ts'

type Live = ReturnType<typeof useLiveSpectrum>

/** Sources begin and end without a message. */
const listIntervalMs = 5_000

export function LiveSection({ control, live }: { readonly control: SpectrumControl; readonly live: Live }) {
  const resource = useResource('/api/sweeps/?levels=false', 'list', ['snapshot'], listIntervalMs)
  return (
    <section className="frequencies-section live screen-only" aria-label={t('frequencies.live.title')}>
      <Loaded resource={resource}>
        {(sources) => (
          <>
            <header className="conflicts-head">
              <h2>{t('frequencies.live.title')}</h2>
              <SourceButtons {...{ sources, live }} />
            </header>
            {sources.length === 0 && live.source === null ? <NoSources /> : null}
            {live.source === null ? null : <ChosenSource {...{ control, live }} onRemoved={resource.reload} />}
          </>
        )}
      </Loaded>
    </section>
  )
}

/** The chosen source is listed even before its first sweep. */
function SourceButtons({ sources, live }: { readonly sources: readonly SweepsBody[]; readonly live: Live }) {
  const names = sources.map(({ source }) => source)
  const values = live.source === null || names.includes(live.source) ? names : [...names, live.source]
  if (values.length === 0) return null
  return (
    <nav className="box-actions" aria-label={t('frequencies.live.source')}>
      <ChoiceButtons
        value={live.source ?? ''}
        values={values}
        nameOf={(name) => <bdi>{plainText(name)}</bdi>}
        onChoice={(name) => live.choose(name === live.source ? null : name)}
      />
    </nav>
  )
}

function NoSources() {
  const { mount } = useServices()
  const service = `${location.origin}${mount}`
  const scan = `micwatch scan tinysa --port /dev/ttyACM0 --from 470 --to 608 --url ${service}`
  const curl = `rtl_power -f 470M:694M:25k -i 10 - | curl -T - "${service}/api/sweeps/?source=stick"`
  return (
    <div className="live-empty">
      <p className="box-note">{t('frequencies.live.none')}</p>
      <CopyField label={t('frequencies.live.withScan')} text={scan} />
      <CopyField label={t('frequencies.live.withCurl')} text={curl} />
      <p className="hint">{t('frequencies.live.token')}</p>
    </div>
  )
}

interface ChosenSourceProps {
  readonly control: SpectrumControl
  readonly live: Live
  onRemoved(): Promise<void>
}

function ChosenSource({ control, live, onRemoved }: ChosenSourceProps) {
  const { spectrum, source, problem } = live
  // Once a second, although sweeps arrive more often.
  const now = useNow()
  const sweeps = useSyncExternalStore(spectrum.subscribe, () => spectrum.sweeps())
  if (sweeps === null) {
    return (
      <p className="box-note" role="status">
        {problem === null ? t('parts.loading') : t('frequencies.live.waiting', { name: plainText(source ?? '') })}
      </p>
    )
  }
  return (
    <>
      <div className="live-head">
        <Status {...{ sweeps, now }} />
        <Edits {...{ sweeps, live, onRemoved }} />
      </div>
      <Waterfall {...{ control, live }} name={plainText(sweeps.source)} />
      <Legend sweeps={sweeps} />
      <LiveTables {...{ control, sweeps, now }} />
    </>
  )
}

function Status({ sweeps, now }: { readonly sweeps: ShownSweeps; readonly now: number }) {
  const { fromKhz, stepKhz, last, isCalibrated, sweepSeconds, receivedAt } = sweeps
  const isLive = isRunning(sweeps, now)
  const age = formatAge(Math.max(0, now - receivedAt))
  const facts = [
    isLive ? t('frequencies.live.age', { age }) : null,
    sweepSeconds === null ? null : t('frequencies.live.sweepTime', { seconds: roundSeconds(sweepSeconds) }),
    t('frequencies.scans.range', {
      from: formatMhz(fromKhz),
      to: formatMhz(fromKhz + (last.length - 1) * stepKhz),
      count: last.length,
    }),
    t(isCalibrated ? 'frequencies.live.calibrated' : 'frequencies.scans.notCalibrated'),
  ]
  return (
    <p className="live-status">
      <span className="tag" data-tone={isLive ? 'good' : 'waiting'} role="status">
        {isLive ? t('frequencies.live.live') : t('frequencies.live.ended')}
      </span>{' '}
      {isLive ? null : <strong>{t('frequencies.live.lastSweep', { time: formatTime(receivedAt), age })} · </strong>}
      <span className="box-note">{facts.filter((fact) => fact !== null).join(' · ')}</span>
    </p>
  )
}

const roundSeconds = (seconds: number) => (seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds))

const restarts = ['never', '1', '5', '15', '60'] as const

function Edits({ sweeps, live, onRemoved }: Omit<ChosenSourceProps, 'control'> & { readonly sweeps: ShownSweeps }) {
  const { api } = useServices()
  const { send, isSending } = useRequest()
  const showMessage = useShowMessage()
  const mayOperate = useMay('operate')
  const [question, setQuestion] = useState<'keep' | 'remove' | null>(null)
  if (!mayOperate) return null
  const { source, resetMinutes } = sweeps
  const name = plainText(source)
  const address = `/api/sweeps/${encodeURIComponent(source)}/` as const
  const close = () => setQuestion(null)
  const reset = async (after_minutes: number | null) => {
    const response = await send(() => api.write('POST', `${address}reset/`, { after_minutes }, 'object'))
    if (response !== null && !response.ok) showMessage({ text: response.problem.detail, tone: 'alarm' })
    if (response?.ok) await live.reload()
  }
  const chosen = resetMinutes === null ? 'never' : String(resetMinutes)
  return (
    <span className="box-actions">
      <button type="button" className="choice" disabled={isSending} onClick={() => void reset(resetMinutes)}>
        {t('frequencies.live.reset')}
      </button>
      <Choice
        label={t('frequencies.live.restart')}
        isLabelled={true}
        value={chosen}
        values={[...new Set<string>([...restarts, chosen])]}
        nameOf={(value) =>
          value === 'never' ? t('frequencies.live.byHand') : t('frequencies.live.minutes', { count: Number(value) })
        }
        onChoice={(value) => void reset(value === 'never' ? null : Number(value))}
      />
      <button type="button" className="choice" onClick={() => setQuestion('keep')}>
        {t('frequencies.live.keep')}
      </button>
      <button type="button" className="choice" onClick={() => setQuestion('remove')}>
        {t('frequencies.live.remove')}
      </button>
      {question === 'keep' ? (
        <FormDialog
          title={t('frequencies.live.keepTitle')}
          action={t('frequencies.live.keep')}
          send={(values) => api.write('POST', `${address}keep/`, { name: String(values.get('name')) }, 'object')}
          done={(scan) => t('frequencies.live.kept', { name: plainText(scan.name) })}
          onClose={close}
        >
          <Field
            name="name"
            label={t('frequencies.live.name')}
            defaultValue={`${name} ${formatDateTime(serviceNow())}`}
            autoComplete="off"
            maxLength={255}
            required={true}
          />
        </FormDialog>
      ) : null}
      {question === 'remove' ? (
        <Removal
          title={t('frequencies.live.removeTitle', { name })}
          action={t('frequencies.live.remove')}
          done={t('frequencies.live.removed', { name })}
          path={address}
          onDone={async () => {
            live.choose(null)
            await onRemoved()
          }}
          onClose={close}
        >
          <p>{t('frequencies.live.removeText')}</p>
        </Removal>
      ) : null}
    </span>
  )
}

function Waterfall({
  control,
  live: { spectrum },
  name,
}: Pick<ChosenSourceProps, 'control' | 'live'> & { name: string }) {
  const element = useRef<HTMLCanvasElement>(null)
  const canvas = useRef<WaterfallCanvas | null>(null)
  useEffect(() => {
    if (element.current === null) return
    const created = new WaterfallCanvas(element.current, control, spectrum)
    canvas.current = created
    return () => {
      canvas.current = null
      created.close()
    }
  }, [control, spectrum])
  useColourChanges(useCallback(() => canvas.current?.recolour(), []))
  return (
    <canvas className="waterfall" ref={element} role="img" aria-label={t('frequencies.live.waterfallOf', { name })} />
  )
}

function Legend({ sweeps }: { readonly sweeps: ShownSweeps }) {
  const { low, high } = levelRange(sweeps)
  const levelText = (value: number) =>
    t(sweeps.isCalibrated ? 'units.dbm' : 'units.db', { value: `${value}`.replace('-', '−') })
  return (
    <p className="live-legend">
      <span>
        <span className="live-sign" data-kind="last" aria-hidden="true" />
        {t('frequencies.live.last')}
      </span>
      <span>
        <span className="live-sign" data-kind="max" aria-hidden="true" />
        {t('frequencies.live.max')}
      </span>
      <span className="live-scale">
        {t('frequencies.live.waterfall')}
        <span className="tabular">{levelText(low)}</span>
        <span className="live-ramp" aria-hidden="true" />
        <span className="tabular">{levelText(high)}</span>
      </span>
    </p>
  )
}
