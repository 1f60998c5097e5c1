import '../parts/boxes.css'
import '../parts/tables/list.css'
import './frequencies.css'
import { Link } from '@tanstack/react-router'
import { FlaskConical } from 'lucide-react'
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import type { FrequenciesBody, FrequencyConflictBody } from '../../src/contract/frequencies.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { plainText } from '../app/format.ts'
import { t, withTexts } from '../app/i18n.ts'
import { usePageTitle } from '../app/page-title.ts'
import { useSearch } from '../app/query.ts'
import { useResource } from '../app/resource.ts'
import { useSelection } from '../app/selection.ts'
import { useMay } from '../app/session.ts'
import { onDemand } from '../parts/dialogs/on-demand.tsx'
import { Empty } from '../parts/empty.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { whenLoaded } from '../parts/when-loaded.tsx'
import { CarrierTable } from './carrier-table.tsx'
import { changeTried, type ShownCarrier } from './carriers.ts'
import { ConflictList } from './conflict-list.tsx'
import { conflictKey, sortConflicts } from './conflict-text.ts'
import { SpectrumControl } from './control.ts'
import { ProductTable } from './product-table.tsx'
import { SelectionBar } from './selection-bar.tsx'
import { Spectrum } from './spectrum.tsx'
import { StorePlanButton } from './store-plan-button.tsx'
import { nothingTried, type Suggestion } from './suggestion.ts'
import { Tabs, useTab } from './tabs.tsx'
import { type Filters, printedText, Toolbar, useFilters } from './toolbar.tsx'
import {
  useCarrierConflicts,
  useCheck,
  useFrequencies,
  useGroupConflicts,
  useMeasured,
  useMeasuredStates,
  useNoise,
  useTvInUse,
} from './use-frequencies.ts'
import { useLiveSpectrum } from './use-live-spectrum.ts'
import { usePinned } from './use-pinned.ts'
import { usePlace } from './use-place.ts'
import { useScans } from './use-scans.ts'
import { type Selected, useCarriers, useConflicts, useScene, victimsOf } from './use-scene.ts'
import { WhatIf } from './what-if.tsx'

const loadLive = withTexts(['frequencies'], () => import('./live-section.tsx'))
const LiveSection = whenLoaded(async () => (await loadLive()).LiveSection)
const loadTab = withTexts(['frequencies', 'settings'], () => import('./tab-content.tsx'))
const TabContent = whenLoaded(async () => (await loadTab()).TabContent)
const loadSuggest = withTexts(['frequencies'], () => import('./suggest-dialog.tsx'))
const SuggestDialog = onDemand(async () => (await loadSuggest()).SuggestDialog)

export function FrequenciesPage() {
  usePageTitle(t('frequencies.title'))
  const filters = useFilters()
  const resource = useFrequencies(filters.level, filters.isOnlyOn)
  return (
    <main className="content frequencies-page" id="content" tabIndex={-1}>
      <header className="frequencies-head">
        <h1>{t('frequencies.title')}</h1>
        <Toolbar {...filters} />
      </header>
      <Loaded resource={resource}>
        {(body) => <Frequencies {...{ body, filters }} onChanged={resource.reload} />}
      </Loaded>
    </main>
  )
}

interface FrequenciesProps {
  readonly body: FrequenciesBody
  readonly filters: Filters
  /** Call after a change that affects the conflicts. */
  onChanged(): Promise<void>
}

function Frequencies({ body, filters, onChanged }: FrequenciesProps) {
  const { level, isOnlyOn, group } = filters
  const { region } = body
  const tab = useTab()
  const mayOperate = useMay('operate')
  const [control] = useState(() => new SpectrumControl())
  const [trial, setTrial, tryFrequency] = useTrial()
  const [selected, setSelected] = useState<Selected>(null)
  const [isSuggesting, setSuggesting] = useState(false)
  const { tried } = trial ?? nothingTried
  const { all, shown } = useCarriers(body, tried, group?.slots ?? null)
  const measured = useMeasured()
  const { result, problem } = useCheck({ all, shown }, tried, level, measured.limits)
  const noise = useNoise(all)
  const ofGroup = useGroupConflicts(group?.id ?? null, level, isOnlyOn)
  const checked = result ?? ofGroup ?? body
  const conflicts = useConflicts(all, shown, checked)
  const total = Object.values(checked.totals).reduce((sum, count) => sum + count, 0)
  const tv = useTvInUse(region)
  const scans = useScans(body.scan_ids)
  const live = useLiveSpectrum()
  const place = usePlace()
  const profiles = useResource('/api/frequencies/profiles/', 'list', ['frequency_profiles'])
  const scene = useScene({
    ...{ shown, all, conflicts, selected, noise, tvInUse: tv.inUse, region },
    ...{ traces: scans.traces, bands: place.bands },
  })
  const selection = useSelection(shown.map(({ id }) => id))
  useEffect(() => control.setFrequencies(shown.map(({ khz }) => khz)), [control, shown])

  const listedCarriers = useMeasuredStates(shown, result)
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
  const ofCarrier = useCarrierConflicts(all, isComplete ? null : chosenId, level, measured.limits)
  const isListed = (conflict: FrequencyConflictBody) => chosenId === null || victimsOf(conflict).includes(chosenId)
  const listed = (ofCarrier === null ? conflicts.sorted : sortConflicts(ofCarrier.conflicts, find)).filter(isListed)
  const ticked = shown.filter(({ id }) => selection.has(id))
  const storeButton = mayOperate ? (
    <StorePlanButton
      carriers={ticked.length === 0 ? shown : ticked}
      settings={{ level, measured: measured.limits }}
      onStored={() => setTrial(null)}
    />
  ) : null
  const pinned = useRef<HTMLDivElement>(null)
  usePinned(pinned)
  return (
    <>
      <p className="print-only">{printedText(filters, body.checked_at)}</p>
      <div className="frequencies-pinned" ref={pinned}>
        <Spectrum {...{ control, scene, chosenId, conflictsOf }} live={live.spectrum} onChoose={chosen} />
        <Tabs tab={tab} counts={{ carriers: shown.length, scans: scans.resource.body?.length }} />
        {tab !== 'carriers' || shown.length === 0 ? null : (
          <SelectionBar
            {...{ carriers: shown, selection }}
            onSuggest={() => setSuggesting(true)}
            others={
              trial === null ? <BeginButtons storeButton={storeButton} onTry={() => setTrial(nothingTried)} /> : null
            }
          />
        )}
      </div>
      {tab === 'scans' ? <LiveSection {...{ control, live }} /> : null}
      <div className="frequencies-columns">
        <div className="frequencies-tab">
          {tab !== 'carriers' || trial === null ? null : (
            <WhatIf
              carriers={shown}
              suggestion={trial}
              scans={scans.resource.body ?? []}
              {...{ find, region, problem, storeButton }}
              onEnd={() => setTrial(null)}
            />
          )}
          {tab !== 'carriers' ? null : shown.length === 0 ? (
            <NoCarriers isFiltered={isOnlyOn || group !== null} />
          ) : (
            <div className="frequencies-table">
              <CarrierTable
                carriers={listedCarriers}
                highlighted={scene.highlighted}
                selection={selection}
                isTrying={trial !== null}
                {...{ profileName, conflictsOf, noise }}
                onChoose={chooseInTable}
                onTry={tryFrequency}
              />
            </div>
          )}
          {tab === 'carriers' ? (
            <ProductTable control={control} products={scene.products} carriers={all} />
          ) : (
            <TabContent
              {...{ tab, body, level, control, scans, measured, tv, profiles, place, onChanged }}
              carriers={all}
              onTry={(tried) => setTrial({ ...nothingTried, tried })}
            />
          )}
        </div>
        <ConflictList
          conflicts={listed}
          totals={checked.totals}
          total={chosenId === null ? total : (counts.get(chosenId) ?? 0)}
          chosenName={chosenId === null ? null : find(chosenId).label}
          selectedKey={selected?.kind === 'conflict' ? conflictKey(selected.conflict) : null}
          find={find}
          isOnlyOn={isOnlyOn}
          scanCount={body.scan_ids.length}
          unmeasuredCount={listedCarriers.filter(({ measured }) => measured === 'unmeasured').length}
          onSelect={select}
          onShowAll={() => setSelected(null)}
        />
      </div>
      {isSuggesting ? (
        <SuggestDialog
          {...{ tried, level }}
          carriers={all}
          chosen={ticked}
          measured={measured.limits}
          onDone={(suggestion) => {
            setSuggesting(false)
            setTrial(suggestion)
          }}
          onClose={() => setSuggesting(false)}
        />
      ) : null}
    </>
  )
}

/** Null unless other frequencies are tried. */
function useTrial() {
  const [trial, setTrial] = useState<Suggestion | null>(null)
  const tryFrequency = useCallback(
    ({ id, presentMhz }: ShownCarrier, khz: number) =>
      setTrial((before) => {
        const { tried, unplaced, accepted } = before ?? nothingTried
        const kept = new Map([...accepted].filter(([other]) => other !== id))
        return { tried: changeTried(tried, id, khz, presentMhz), unplaced, accepted: kept }
      }),
    [],
  )
  return [trial, setTrial, tryFrequency] as const
}

/** Not while frequencies are tried. */
function BeginButtons({ storeButton, onTry }: { storeButton: ReactNode; onTry: () => void }) {
  return (
    <>
      <button type="button" className="choice" onClick={onTry}>
        <FlaskConical className="icon" aria-hidden="true" />
        {t('frequencies.whatIf.begin')}
      </button>
      {storeButton}
    </>
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
        {t('shell.pages.find.title')}
      </Link>
    </Empty>
  )
}
