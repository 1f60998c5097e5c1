import '../parts/boxes.css'
import '../parts/tables/list.css'
import './frequencies.css'
import { Link } from '@tanstack/react-router'
import { Download, FlaskConical, Printer } from 'lucide-react'
import { useCallback, useEffect, useMemo, useState } from 'react'
import type { FrequenciesBody, FrequencyConflictBody } from '../../src/contract/frequencies.ts'
import { type GuardLevel, guardLevels } from '../../src/contract/values.ts'
import { parseTvInUse } from '../../src/domain/frequencies/tv-raster.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { formatDateTime, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { usePageTitle } from '../app/page-title.ts'
import { useSearch } from '../app/query.ts'
import { useResource } from '../app/resource.ts'
import { useSelection } from '../app/selection.ts'
import { Empty } from '../parts/empty.tsx'
import { Choice } from '../parts/forms/choice.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { CarrierTable } from './carrier-table.tsx'
import { changePlan, type Plan, type ShownCarrier } from './carriers.ts'
import { ConflictList } from './conflict-list.tsx'
import { conflictKey, sortConflicts } from './conflict-text.ts'
import { SpectrumControl } from './control.ts'
import { Profiles } from './profiles.tsx'
import { Scans } from './scans.tsx'
import { Spectrum } from './spectrum.tsx'
import { TvChannels } from './tv-channels.tsx'
import {
  useCarrierConflicts,
  useCheck,
  useFrequencies,
  useGroupConflicts,
  useNoise,
  useTraces,
} from './use-frequencies.ts'
import { type Selected, useCarriers, useConflicts, useScene, victimsOf } from './use-scene.ts'
import { WhatIf } from './what-if.tsx'

export function FrequenciesPage() {
  usePageTitle(t('frequencies.title'))
  const [search] = useSearch()
  const query = new URLSearchParams(search)
  const level = guardLevels.find((name) => name === query.get('level')) ?? 'standard'
  const isOnlyOn = query.get('on') === 'true'
  const resource = useFrequencies(level, isOnlyOn)
  return (
    <main className="content frequencies-page" id="content" tabIndex={-1}>
      <h1>{t('frequencies.title')}</h1>
      <Loaded resource={resource}>
        {(body) => <Frequencies {...{ body, level, isOnlyOn }} onChanged={resource.reload} />}
      </Loaded>
    </main>
  )
}

interface FrequenciesProps {
  readonly body: FrequenciesBody
  readonly level: GuardLevel
  readonly isOnlyOn: boolean
  /** Call after a change that affects the conflicts. */
  onChanged(): Promise<void>
}

const noPlan: Plan = new Map()

function Frequencies({ body, level, isOnlyOn, onChanged }: FrequenciesProps) {
  const group = useGroup()
  const [control] = useState(() => new SpectrumControl())
  const [plan, setPlan] = useState<Plan | null>(null)
  const [selected, setSelected] = useState<Selected>(null)
  const { all, shown } = useCarriers(body, plan ?? noPlan, group?.slots ?? null)
  const { result, problem } = useCheck({ all, shown }, plan ?? noPlan, level)
  const noise = useNoise(all)
  const ofGroup = useGroupConflicts(group?.id ?? null, level, isOnlyOn)
  const checked = result ?? ofGroup ?? body
  const conflicts = useConflicts(all, shown, checked)
  const total = Object.values(checked.totals).reduce((sum, count) => sum + count, 0)
  const config = useResource('/api/config/', 'object', ['settings'])
  const tvText = config.body?.TV_IN_USE ?? ''
  const tvInUse = useMemo(() => parseTvInUse(body.region, tvText).inUse, [body.region, tvText])
  const scans = useScans()
  const profiles = useResource('/api/frequencies/profiles/', 'list', ['frequency_profiles'])
  const scene = useScene({
    ...{ shown, all, conflicts, selected, noise, tvInUse },
    region: body.region,
    traces: scans.traces,
  })
  const picked = useSelection(shown.map(({ id }) => id))
  useEffect(() => control.setFrequencies(shown.map(({ khz }) => khz)), [control, shown])

  const { counts, find } = conflicts
  const isComplete = total <= checked.conflicts.length
  const conflictsOf = useCallback((id: string) => ({ count: counts.get(id) ?? 0, isComplete }), [counts, isComplete])
  const profileName = useCallback(
    (id: string) => plainText(profiles.body?.find((profile) => profile.id === id)?.name ?? id),
    [profiles.body],
  )
  const chosenId = selected?.kind === 'carrier' ? selected.id : null
  const chosen = useCallback((id: string | null) => setSelected(id === null ? null : { kind: 'carrier', id }), [])
  const chooseInTable = useCallback(
    (id: string) => {
      const carrier = all.find((candidate) => candidate.id === id)
      if (carrier !== undefined) control.show([carrier.khz])
      chosen(id)
    },
    [all, control, chosen],
  )
  const select = (conflict: FrequencyConflictBody | null) => {
    setSelected(conflict && { kind: 'conflict', conflict })
    if (conflict === null) return
    const ids = [conflict.victim, ...conflict.generators]
    control.show(all.filter(({ id }) => ids.includes(id)).map(({ khz }) => khz))
  }
  const tryFrequency = useCallback(
    ({ id, presentMhz }: ShownCarrier, khz: number) =>
      setPlan((before) => changePlan(before ?? noPlan, id, khz, presentMhz)),
    [],
  )
  const ofCarrier = useCarrierConflicts(all, isComplete ? null : chosenId, level)
  const listed =
    chosenId === null
      ? conflicts.sorted
      : sortConflicts(ofCarrier?.conflicts ?? conflicts.sorted, find).filter((conflict) =>
          victimsOf(conflict).includes(chosenId),
        )
  return (
    <>
      <Toolbar {...{ level, isOnlyOn, group }} isTrying={plan !== null} onTry={() => setPlan(noPlan)} />
      <p className="print-only">{printedText({ level, isOnlyOn, group }, body.checked_at)}</p>
      {plan === null ? null : (
        <WhatIf
          {...{ level, plan, problem }}
          carriers={all}
          chosen={shown.filter(({ id }) => picked.has(id))}
          onPlan={setPlan}
          onEnd={() => setPlan(null)}
        />
      )}
      {shown.length === 0 ? <NoCarriers isFiltered={isOnlyOn || group !== null} /> : null}
      <Spectrum {...{ control, scene, chosenId, conflictsOf }} onChoose={chosen} />
      <div className="frequencies-columns">
        {shown.length === 0 ? null : (
          <div className="frequencies-table">
            <CarrierTable
              carriers={shown}
              highlighted={scene.highlighted}
              selection={plan === null ? null : picked}
              {...{ profileName, conflictsOf, noise }}
              onChoose={chooseInTable}
              onTry={tryFrequency}
            />
          </div>
        )}
        <ConflictList
          conflicts={listed}
          totals={checked.totals}
          total={chosenId === null ? total : (counts.get(chosenId) ?? 0)}
          chosenName={chosenId === null ? null : find(chosenId).label}
          selectedKey={selected?.kind === 'conflict' ? conflictKey(selected.conflict) : null}
          find={find}
          isOnlyOn={isOnlyOn}
          onSelect={select}
          onShowAll={() => setSelected(null)}
        />
      </div>
      <Scans resource={scans.resource} shown={scans.shown} />
      <TvChannels region={body.region} inUse={tvInUse} onDone={() => reloadBoth(config.reload, onChanged)} />
      <Profiles resource={profiles} level={level} onDone={() => reloadBoth(profiles.reload, onChanged)} />
    </>
  )
}

function printedText(
  { level, isOnlyOn, group }: Pick<ToolbarProps, 'level' | 'isOnlyOn' | 'group'>,
  checkedAt: string,
): string {
  return [
    t('frequencies.printed', { time: formatDateTime(checkedAt) }),
    `${t('frequencies.level')}: ${t(`frequencies.levels.${level}`)}`,
    ...(group === null ? [] : [`${t('frequencies.group')}: ${plainText(group.title)}`]),
    ...(isOnlyOn ? [t('frequencies.onlyOn')] : []),
  ].join(' · ')
}

async function reloadBoth(...reloads: readonly (() => Promise<void>)[]): Promise<void> {
  await Promise.all(reloads.map((reload) => reload()))
}

/** From the address; null if it selects none. */
function useGroup() {
  const [search] = useSearch()
  const id = Number(new URLSearchParams(search).get('group'))
  return useWatchState(({ groups }) => groups.find((group) => group.id === id) ?? null)
}

/** At first, the latest upload is drawn. */
function useScans() {
  const resource = useResource('/api/scans/', 'list', ['scans'])
  const [choices, setChoices] = useState<ReadonlyMap<number, boolean>>(new Map())
  const newest = Math.max(...(resource.body ?? []).map(({ id }) => id))
  const has = (id: number) => choices.get(id) ?? id === newest
  const drawn = (resource.body ?? []).filter(({ id }) => has(id))
  const toggle = (id: number) => setChoices(new Map(choices).set(id, !has(id)))
  return { resource, shown: { ids: drawn.map(({ id }) => id), has, toggle }, traces: useTraces(drawn) }
}

interface ToolbarProps {
  readonly level: GuardLevel
  readonly isOnlyOn: boolean
  readonly group: ReturnType<typeof useGroup>
  readonly isTrying: boolean
  onTry(): void
}

function Toolbar({ level, isOnlyOn, group, isTrying, onTry }: ToolbarProps) {
  const { mount } = useServices()
  const [, change] = useSearch()
  const groups = useWatchState((watchState) => watchState.groups)
  const filters = new URLSearchParams({
    ...(isOnlyOn && { only_on: '1' }),
    ...(group !== null && { group: String(group.id) }),
  })
  return (
    <div className="frequencies-toolbar screen-only">
      <Choice
        label={t('frequencies.level')}
        isLabelled={true}
        value={level}
        values={guardLevels}
        nameOf={(name) => t(`frequencies.levels.${name}`)}
        onChoice={(name) => change({ level: name === 'standard' ? null : name })}
      />
      {groups.length === 0 ? null : (
        <Choice
          label={t('frequencies.group')}
          isLabelled={true}
          value={group === null ? '' : String(group.id)}
          values={['', ...groups.map(({ id }) => String(id))]}
          nameOf={(id) =>
            plainText(groups.find((candidate) => String(candidate.id) === id)?.title ?? t('frequencies.allGroups'))
          }
          onChoice={(id) => change({ group: id === '' ? null : id })}
        />
      )}
      <label className="tick">
        <input
          type="checkbox"
          checked={isOnlyOn}
          onChange={({ target }) => change({ on: target.checked ? 'true' : null })}
        />
        {t('frequencies.onlyOn')}
      </label>
      <span className="frequencies-actions">
        {isTrying ? null : (
          <button type="button" className="choice" onClick={onTry}>
            <FlaskConical className="icon" aria-hidden="true" />
            {t('frequencies.whatIf.begin')}
          </button>
        )}
        <a className="choice" href={`${mount}/api/frequencies/export.csv?${filters}`} download>
          <Download className="icon" aria-hidden="true" />
          {t('documents.csv')}
        </a>
        <button type="button" className="choice" onClick={() => print()}>
          <Printer className="icon" aria-hidden="true" />
          {t('documents.print')}
        </button>
      </span>
    </div>
  )
}

function NoCarriers({ isFiltered }: { isFiltered: boolean }) {
  const [, change] = useSearch()
  if (isFiltered) {
    return (
      <Empty title={t('frequencies.noneShown')}>
        <button type="button" className="action" onClick={() => change({ on: null, group: null })}>
          {t('parts.filters.clear')}
        </button>
      </Empty>
    )
  }
  return (
    <Empty title={t('frequencies.none')}>
      <p>{t('frequencies.noneNext')}</p>
      <Link className="action" to={pathOf('find')}>
        {t('find.title')}
      </Link>
    </Empty>
  )
}
