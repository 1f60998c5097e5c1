/** How many there are, how many need a hand; and what to show. */

import { useSyncExternalStore } from 'react'
import type { Sort } from '../address.ts'
import { houseStaleSince } from '../channel-state.ts'
import { useHouse, useSurroundings } from '../context.ts'
import { texts } from '../texts.ts'
import { Age } from './age.tsx'
import { StateIcon } from './state-icon.tsx'

export function Summary() {
  const { store } = useSurroundings()
  // A string, so that nothing is rendered again while the counts stay as they are.
  const counts = useSyncExternalStore(store.subscribe, () => {
    const cards = store.cards('slot')
    const replace = cards.filter((one) => one.state === 'replace').length
    return `${cards.length} ${cards.filter((one) => one.needsHand).length} ${replace}`
  })
  const staleSince = useHouse(houseStaleSince)
  const [channels, hands, replace] = counts.split(' ').map(Number) as [number, number, number]
  if (channels === 0) return null
  return (
    <section className="summary" aria-label={texts.summary.label}>
      <span>{texts.summary.channels(channels)}</span>
      {staleSince !== null ? (
        <strong className="summary-hands" data-tone="old">
          <StateIcon state="stale" />
          {texts.summary.notLive} <Age since={staleSince} />
        </strong>
      ) : (
        <strong className="summary-hands" data-tone={hands > 0 ? 'alarm' : 'calm'}>
          <StateIcon state={hands > 0 ? 'low' : 'good'} />
          {hands > 0 ? texts.summary.needHand(hands) : texts.summary.allWell}
        </strong>
      )}
      {replace === 0 || staleSince !== null ? null : (
        <span className="summary-replace">
          <StateIcon state="replace" />
          {texts.summary.replace(replace)}
        </span>
      )}
    </section>
  )
}

interface FiltersProps {
  readonly sort: Sort
  onSort(sort: Sort): void
  onManufacturer(code: string | null): void
}

export function Filters({ sort, onSort, onManufacturer }: FiltersProps) {
  const { manufacturer } = useSurroundings()
  const codes = useHouse((house) => house.health?.manufacturers.map((one) => one.code).join(' ') ?? '')
  const known = codes === '' ? [] : codes.split(' ')
  return (
    <div className="filters">
      {known.length < 2 && manufacturer === null ? null : (
        <select
          className="choice"
          aria-label={texts.filters.manufacturer}
          value={manufacturer ?? ''}
          onChange={(event) => onManufacturer(event.target.value === '' ? null : event.target.value)}
        >
          <option value="">{texts.filters.all}</option>
          {(manufacturer === null || known.includes(manufacturer) ? known : [...known, manufacturer]).map((code) => (
            <option key={code} value={code}>
              {code}
            </option>
          ))}
        </select>
      )}
      <button
        type="button"
        className="choice"
        aria-pressed={sort === 'problems'}
        onClick={() => onSort(sort === 'problems' ? 'slot' : 'problems')}
      >
        {texts.filters.problemsFirst}
      </button>
    </div>
  )
}
