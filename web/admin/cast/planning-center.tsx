import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import type {
  PlanningCenterImport,
  PlanningCenterPlans,
  PlanningCenterPositions,
  PlanningCenterServiceTypes,
} from '../../../src/contract/imports.ts'
import type { ApiResponse, Problem } from '../../app/api.ts'
import { useServices, useWatchState } from '../../app/context.ts'
import { formatDayTime, plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { useRequest, useResource } from '../../app/resource.ts'
import { Ago } from '../../parts/age.tsx'
import { useShowMessage } from '../../parts/dialogs/messages.tsx'
import { Notice, ProblemLine } from '../../parts/dialogs/notice.tsx'
import { PasswordField, SelectField, TickField } from '../../parts/forms/field.tsx'
import { Form } from '../../parts/forms/form.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { SlotChoice, type SlotOption } from '../../parts/slots/slot-choice.tsx'
import { DataTable } from '../../parts/tables/data-table.tsx'
import { AppliedCast, CastPreview, SkippedList } from './cast-result.tsx'

const path = '/api/import/planning-center/'

/** Undefined: the stored token. */
interface Access {
  readonly token: string | undefined
  readonly remember: boolean
}

interface Connected {
  readonly access: Access
  readonly serviceTypes: PlanningCenterServiceTypes
}

export function PlanningCenterForm() {
  const stored = useResource(path, 'object')
  return (
    <Loaded resource={stored}>
      {({ is_token_stored, service_types }) => (
        <Connection isTokenStored={is_token_stored} usual={service_types[0]?.id ?? null} onForgotten={stored.reload} />
      )}
    </Loaded>
  )
}

interface ConnectionProps {
  readonly isTokenStored: boolean
  readonly usual: string | null
  onForgotten(): Promise<void>
}

function Connection({ isTokenStored, usual, onForgotten }: ConnectionProps) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const { send, isSending, problem } = useRequest()
  const [connected, setConnected] = useState<Connected | null>(null)
  const [isEntering, setEntering] = useState(!isTokenStored)
  const connect = useCallback(
    (token: string | undefined) => api.write('POST', `${path}service-types/`, { token }, 'object'),
    [api],
  )
  const connectStored = useCallback(async () => {
    const response = await send(() => connect(undefined))
    if (response?.ok) setConnected({ access: { token: undefined, remember: false }, serviceTypes: response.body })
  }, [send, connect])
  useEffect(() => {
    if (isTokenStored) void connectStored()
  }, [isTokenStored, connectStored])
  const enter = () => {
    setConnected(null)
    setEntering(true)
  }
  const forget = async () => {
    const response = await send(() => api.write('DELETE', `${path}token/`, undefined, 'nothing'))
    if (!response?.ok) return
    showMessage({ text: t('planningCenter.forgotten') })
    enter()
    await onForgotten()
  }

  if (connected !== null) {
    const { access, serviceTypes } = connected
    return (
      <>
        {serviceTypes.service_types.length === 0 ? (
          <Notice title={t('planningCenter.noServiceTypes')}>
            <p>{t('planningCenter.noServiceTypesNext')}</p>
          </Notice>
        ) : (
          <PlanChoice access={access} serviceTypes={serviceTypes.service_types} usual={usual} />
        )}
        <div className="list-actions">
          <button type="button" className="choice" onClick={enter}>
            {t('planningCenter.otherToken')}
          </button>
          {isTokenStored ? (
            <button type="button" className="choice" disabled={isSending} onClick={() => void forget()}>
              {t('planningCenter.forget')}
            </button>
          ) : null}
        </div>
      </>
    )
  }
  if (!isEntering) {
    if (problem === null) return <p className="loading">{t('planningCenter.loading')}</p>
    return (
      <>
        <ProblemLine problem={problem} />
        <div className="list-actions">
          <button type="button" className="choice" disabled={isSending} onClick={() => void connectStored()}>
            {t('planningCenter.retry')}
          </button>
          <button type="button" className="choice" onClick={enter}>
            {t('planningCenter.otherToken')}
          </button>
        </div>
      </>
    )
  }
  return <TokenForm connect={connect} onConnected={setConnected} />
}

interface TokenFormProps {
  connect(token: string): Promise<ApiResponse<PlanningCenterServiceTypes>>
  onConnected(connected: Connected): void
}

function TokenForm({ connect, onConnected }: TokenFormProps) {
  const sent = useRef<Access>({ token: undefined, remember: false })
  return (
    <Form
      action={t('planningCenter.connect')}
      send={(values) => {
        const token = String(values.get('token') ?? '').trim()
        sent.current = { token, remember: values.get('remember') === 'on' }
        return connect(token)
      }}
      onDone={(serviceTypes) => onConnected({ access: sent.current, serviceTypes })}
    >
      <PasswordField
        name="token"
        label={t('planningCenter.token')}
        hint={t('planningCenter.tokenHint')}
        placeholder={t('planningCenter.tokenExample')}
        autoComplete="off"
        spellCheck={false}
      />
      <TickField name="remember" label={t('planningCenter.remember')} hint={t('planningCenter.rememberHint')} />
    </Form>
  )
}

interface PlanChoiceProps {
  readonly access: Access
  readonly serviceTypes: PlanningCenterServiceTypes['service_types']
  readonly usual: string | null
}

function PlanChoice({ access, serviceTypes, usual }: PlanChoiceProps) {
  const { api } = useServices()
  const [serviceType, setServiceType] = useState(
    serviceTypes.some(({ id }) => id === usual) ? usual : (serviceTypes[0]?.id ?? ''),
  )
  const [plan, setPlan] = useState<string | null>(null)
  const [time, setTime] = useState<string | null>(null)
  const { token } = access
  const service_type = serviceType ?? ''
  const plans = useLoaded<PlanningCenterPlans>(`${service_type}`, () =>
    api.write('POST', `${path}plans/`, { token, service_type }, 'object'),
  )
  const planId = plan ?? plans.body?.plans[0]?.id ?? null
  const positions = useLoaded<PlanningCenterPositions>(
    planId === null ? null : `${service_type} ${planId} ${time}`,
    () => api.write('POST', `${path}positions/`, { token, service_type, plan: planId, time }, 'object'),
  )
  const { body, latest } = positions
  const times = latest?.plan.id === planId ? latest.times : []
  return (
    <>
      <div className="cast-choices">
        <SelectField
          name="service_type"
          label={t('planningCenter.serviceType')}
          value={service_type}
          options={serviceTypes.map(({ id, name }) => ({ value: id, text: plainText(name) }))}
          onChange={({ target }) => {
            setServiceType(target.value)
            setPlan(null)
            setTime(null)
          }}
        />
        {plans.body === null || planId === null ? null : (
          <SelectField
            name="plan"
            label={t('planningCenter.plan')}
            value={planId}
            options={plans.body.plans.map((item) => ({ value: item.id, text: planText(item) }))}
            onChange={({ target }) => {
              setPlan(target.value)
              setTime(null)
            }}
          />
        )}
        {times.length < 2 ? null : (
          <SelectField
            name="time"
            label={t('planningCenter.time')}
            value={time ?? latest?.plan.time ?? ''}
            options={times.map((item) => ({ value: item.id, text: timeText(item) }))}
            onChange={({ target }) => setTime(target.value)}
          />
        )}
      </div>
      {plans.body?.plans.length === 0 ? (
        <Notice title={t('planningCenter.noPlans')}>
          <p>{t('planningCenter.noPlansNext')}</p>
        </Notice>
      ) : null}
      {[plans.problem, positions.problem].map((problem, index) =>
        // biome-ignore lint/suspicious/noArrayIndexKey: the two problems have fixed places
        problem === null ? null : <ProblemLine key={index} problem={problem} />,
      )}
      {plans.isLoading || positions.isLoading ? <p className="loading">{t('planningCenter.loading')}</p> : null}
      {body === null ? null : <PlanImport key={`${body.plan.id} ${body.plan.time}`} access={access} loaded={body} />}
    </>
  )
}

function planText({ title, dates }: PlanningCenterPlans['plans'][number]): string {
  return plainText([dates, title].filter((text) => text !== null && text !== '').join(' · '))
}

function timeText({ name, starts_at }: PlanningCenterPositions['times'][number]): string {
  return [formatDayTime(Date.parse(starts_at)), name === null ? '' : plainText(name)]
    .filter((text) => text !== '')
    .join(' · ')
}

type Slots = Readonly<Record<string, number | null>>

interface PlanImportProps {
  readonly access: Access
  readonly loaded: PlanningCenterPositions
}

function PlanImport({ access: { token, remember }, loaded: { plan, positions } }: PlanImportProps) {
  const { api } = useServices()
  const [slots, setSlots] = useState<Slots>(Object.fromEntries(positions.map(({ position, slot }) => [position, slot])))
  const [applied, setApplied] = useState<PlanningCenterImport | null>(null)
  const { send, isSending, problem, forget } = useRequest()
  const importPlan = (more: { readonly preview?: true; readonly remember?: true }) => {
    const request = { token, service_type: plan.service_type, plan: plan.id, time: plan.time, positions: slots }
    return api.write('POST', path, { ...request, ...more }, 'object')
  }
  const preview = useLoaded<PlanningCenterImport>(
    applied === null ? JSON.stringify(slots) : null,
    () => importPlan({ preview: true }),
    previewDelayMs,
  )
  const apply = async () => {
    const response = await send(() => importPlan(remember ? { remember } : {}))
    if (response?.ok) setApplied(response.body)
  }
  if (positions.length === 0) {
    return (
      <Notice title={t('planningCenter.nobody')}>
        <p>{t('planningCenter.nobodyNext')}</p>
      </Notice>
    )
  }
  if (applied !== null) {
    return (
      <AppliedCast
        changes={applied.changes}
        undoIds={[applied.undo_id]}
        another={t('planningCenter.another')}
        onClose={() => setApplied(null)}
      >
        <SkippedPositions skipped={applied.skipped} slots={slots} />
      </AppliedCast>
    )
  }
  const shownPlan = preview.body?.plan ?? plan
  return (
    <>
      {shownPlan.problem === null ? null : (
        <p className="cast-stored" role="status">
          {shownPlan.problem} {t('planningCenter.stored')} <Ago at={shownPlan.loaded_at} />
        </p>
      )}
      <Positions
        positions={positions}
        slots={slots}
        onChange={(position, slot) => {
          forget()
          setSlots({ ...slots, [position]: slot })
        }}
      />
      {preview.problem === null ? null : <ProblemLine problem={preview.problem} />}
      {preview.isLoading ? <p className="loading">{t('planningCenter.loading')}</p> : null}
      {preview.latest === null || preview.problem !== null ? null : (
        <CastPreview
          changes={preview.latest.changes}
          isCurrent={preview.body !== null}
          {...{ isSending, problem }}
          onApply={() => void apply()}
        >
          <SkippedPositions skipped={preview.latest.skipped} slots={slots} />
        </CastPreview>
      )}
    </>
  )
}

interface PositionsProps {
  readonly positions: PlanningCenterPositions['positions']
  readonly slots: Slots
  onChange(position: string, slot: number | null): void
}

function Positions({ positions, slots, onChange }: PositionsProps) {
  const options = useSlotOptions()
  return (
    <DataTable
      caption={t('planningCenter.positions')}
      rows={positions}
      idOf={({ position }) => position}
      columns={[
        {
          key: 'position',
          title: t('planningCenter.columns.position'),
          cell: ({ position }) => <bdi>{plainText(position)}</bdi>,
        },
        {
          key: 'people',
          title: t('planningCenter.columns.people'),
          cell: ({ people }) => <bdi>{plainText(people.join(', '))}</bdi>,
        },
        {
          key: 'slot',
          title: t('planningCenter.columns.slot'),
          cell: ({ position }) => (
            <SlotChoice
              className="input cast-slot"
              label={t('planningCenter.slotOf', { position: plainText(position) })}
              slots={options}
              none={t('planningCenter.noSlot')}
              value={slots[position] ?? null}
              onChoice={(slot) => onChange(position, slot)}
            />
          ),
        },
      ]}
    />
  )
}

function useSlotOptions(): readonly SlotOption[] {
  const { watch } = useServices()
  const cards = useSyncExternalStore(watch.subscribe, watch.cards)
  const placeholders = useWatchState((watchState) => watchState.placeholders)
  const named = [...cards.map(({ slot, name }) => ({ slot, name })), ...placeholders]
  return named
    .toSorted((a, b) => a.slot - b.slot)
    .map(({ slot, name }) => ({
      slot,
      text: name === null || name === '' ? String(slot) : t('planningCenter.slotName', { slot, name: plainText(name) }),
    }))
}

interface SkippedPositionsProps extends Pick<PlanningCenterImport, 'skipped'> {
  readonly slots: Slots
}

function SkippedPositions({ skipped, slots }: SkippedPositionsProps) {
  const items = skipped
    .filter(({ position }) => slots[position] != null)
    .map(({ position, name, reason }) => ({ what: name === null ? position : `${position} · ${name}`, reason }))
  return <SkippedList title={t('planningCenter.skipped', { count: items.length })} items={items} />
}

/** After the last change. A preview takes several requests to Planning Center, which limits them. */
const previewDelayMs = 700

interface LoadedBody<Body> {
  readonly body: Body | null
  /** May belong to an earlier key. */
  readonly latest: Body | null
  readonly problem: Problem | null
  readonly isLoading: boolean
}

/** Reads again when the key changes, but not while it is null. */
function useLoaded<Body>(key: string | null, read: () => Promise<ApiResponse<Body>>, delayMs = 0): LoadedBody<Body> {
  const [loaded, setLoaded] = useState<LoadedBody<Body> & { readonly key: string | null }>({
    ...{ key: null, body: null, latest: null, problem: null, isLoading: false },
  })
  const readRef = useRef(read)
  readRef.current = read
  useEffect(() => {
    if (key === null) return
    let isCurrent = true
    const timer = setTimeout(async () => {
      const response = await readRef.current()
      if (!isCurrent) return
      const [body, problem] = response.ok ? [response.body, null] : [null, response.problem]
      setLoaded((before) => ({ key, body, latest: body ?? before.latest, problem, isLoading: false }))
    }, delayMs)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [key, delayMs])
  if (key === null || loaded.key !== key)
    return { body: null, latest: loaded.latest, problem: null, isLoading: key !== null }
  return loaded
}
