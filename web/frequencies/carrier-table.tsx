import { Link } from '@tanstack/react-router'
import { type KeyboardEvent, useMemo, useState } from 'react'
import { formatDbm, formatMegahertz } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import type { Selection } from '../app/selection.ts'
import { type Column, DataTable } from '../parts/tables/data-table.tsx'
import { parseFrequency, type ShownCarrier } from './carriers.ts'
import { type ConflictCount, countText } from './conflict-text.ts'
import { type RecordedNoise, timeOfNoise, useLevelText } from './live-levels.ts'
import { stateText } from './spectrum.tsx'

interface CarrierTableProps {
  readonly carriers: readonly ShownCarrier[]
  readonly highlighted: ReadonlySet<string>
  readonly selection: Selection<string>
  readonly isTrying: boolean
  profileName(id: string): string
  conflictsOf(id: string): ConflictCount
  readonly noise: ReadonlyMap<string, RecordedNoise>
  onChoose(id: string): void
  onTry(carrier: ShownCarrier, khz: number): void
}

export function CarrierTable(props: CarrierTableProps) {
  const { carriers, highlighted, selection, isTrying, profileName, conflictsOf, noise, onChoose, onTry } = props
  const hasZones = carriers.some(({ zone }) => zone !== null)
  const columns = useMemo(
    () => columnsOf({ isTrying, hasZones, profileName, conflictsOf, noise, onChoose, onTry }),
    [isTrying, hasZones, profileName, conflictsOf, noise, onChoose, onTry],
  )
  return (
    <DataTable
      caption={t('frequencies.table.caption')}
      columns={columns}
      rows={carriers}
      idOf={({ id }) => id}
      nameOf={({ label }) => label}
      isHighlighted={({ id }) => highlighted.has(id)}
      selection={selection}
    />
  )
}

type ColumnOptions = Omit<CarrierTableProps, 'carriers' | 'highlighted' | 'selection'> & {
  readonly hasZones: boolean
}

function columnsOf(options: ColumnOptions): readonly Column<ShownCarrier>[] {
  const { isTrying, hasZones, profileName, conflictsOf, noise, onChoose, onTry } = options
  return [
    {
      key: 'mhz',
      title: t('frequencies.table.mhz'),
      sortBy: ({ khz }) => khz,
      cell: (carrier) => <Mhz {...{ carrier, onChoose }} />,
    },
    ...(isTrying
      ? [
          {
            ...{ key: 'new', title: t('frequencies.table.new') },
            cell: (carrier: ShownCarrier) => <NewMhz key={carrier.mhz} carrier={carrier} onTry={onTry} />,
          },
        ]
      : []),
    {
      key: 'name',
      title: t('frequencies.table.name'),
      sortBy: ({ name }) => name,
      cell: (carrier) => <Name carrier={carrier} />,
    },
    {
      key: 'slot',
      title: t('frequencies.table.slot'),
      align: 'end',
      sortBy: ({ slot }) => slot,
      cell: ({ slot }) => slot,
    },
    {
      key: 'state',
      title: t('frequencies.table.state'),
      sortBy: stateText,
      cell: (carrier) => <State carrier={carrier} />,
    },
    {
      ...{ key: 'conflicts', title: t('frequencies.table.conflicts'), align: 'end' },
      sortBy: ({ id }) => conflictsOf(id).count,
      cell: ({ id }) => <Count of={conflictsOf(id)} />,
    },
    {
      ...{ key: 'level', title: t('frequencies.table.level'), align: 'end' },
      sortBy: ({ noise_dbm, rf_level }) => noise_dbm ?? rf_level,
      cell: (carrier) => <Level carrier={carrier} />,
    },
    {
      ...{ key: 'noise', title: t('frequencies.table.noise'), align: 'end' },
      sortBy: ({ id }) => noise.get(id)?.highest_dbm ?? null,
      cell: ({ id }) => <Noise noise={noise.get(id)} />,
    },
    {
      ...{ key: 'profile', title: t('frequencies.table.profile') },
      sortBy: ({ profile }) => profileName(profile),
      cell: ({ profile, model }) => (
        <span className="stacked">
          {profileName(profile)}
          {model === null ? null : <small>{model}</small>}
        </span>
      ),
    },
    {
      ...{ key: 'tv', title: t('frequencies.table.tv'), align: 'end' },
      sortBy: ({ tv_channel }) => tv_channel,
      cell: ({ tv_channel }) => tv_channel ?? t('parts.unknown'),
    },
    {
      ...{ key: 'measured', title: t('frequencies.table.measured') },
      sortBy: ({ measured }) => measured,
      cell: ({ measured }) => <Measured state={measured} />,
    },
    ...(hasZones
      ? [
          {
            ...{ key: 'zone', title: t('frequencies.table.zone') },
            sortBy: ({ zone }: ShownCarrier) => zone,
            cell: ({ zone }: ShownCarrier) => zone ?? t('parts.unknown'),
          },
        ]
      : []),
  ]
}

function Mhz({ carrier, onChoose }: { carrier: ShownCarrier; onChoose(id: string): void }) {
  const { id, presentMhz, label } = carrier
  return (
    <button type="button" className="mhz" onClick={() => onChoose(id)}>
      {formatMegahertz(presentMhz)}
      <span className="visually-hidden"> {t('frequencies.table.show', { name: label })}</span>
    </button>
  )
}

function NewMhz({ carrier, onTry }: { carrier: ShownCarrier; onTry(carrier: ShownCarrier, khz: number): void }) {
  const { label, mhz, presentMhz, isTried } = carrier
  const [isWrong, setWrong] = useState(false)
  const apply = (text: string) => {
    const khz = parseFrequency(text === '' ? presentMhz : text)
    setWrong(khz === null)
    if (khz !== null && khz !== carrier.khz) onTry(carrier, khz)
  }
  const press = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Enter') apply(event.currentTarget.value.trim())
  }
  return (
    <span className="new-mhz">
      <input
        className="input tabular"
        inputMode="decimal"
        autoComplete="off"
        aria-label={t('frequencies.table.newOf', { name: label })}
        aria-invalid={isWrong || undefined}
        data-tried={isTried || undefined}
        defaultValue={mhz}
        onBlur={(event) => apply(event.currentTarget.value.trim())}
        onKeyDown={press}
      />
      {isWrong ? (
        <span className="problem" role="alert">
          {t('frequencies.table.wrong')}
        </span>
      ) : null}
    </span>
  )
}

function Name({ carrier: { name, channel_id } }: { carrier: ShownCarrier }) {
  if (channel_id === undefined) return <bdi>{name}</bdi>
  return (
    <Link to="/channels/$id" params={{ id: String(channel_id) }}>
      <bdi>{name}</bdi>
    </Link>
  )
}

const tones = { on: 'good', off: 'calm', offline: undefined, planned: undefined } as const

function State({ carrier }: { carrier: ShownCarrier }) {
  return (
    <span className="tag" data-tone={tones[carrier.state]}>
      {stateText(carrier)}
    </span>
  )
}

function Level({ carrier }: { carrier: ShownCarrier }) {
  return useLevelText(carrier) ?? t('parts.unknown')
}

function Noise({ noise }: { noise: RecordedNoise | undefined }) {
  if (noise === undefined) return <span className="box-note">{t('parts.unknown')}</span>
  const level = formatDbm(noise.highest_dbm)
  const time = timeOfNoise(noise)
  return (
    <span className="stacked">
      {noise.is_high ? (
        <span className="tag" data-tone="waiting">
          {level}
        </span>
      ) : (
        level
      )}
      {time === null ? null : <small>{time}</small>}
    </span>
  )
}

function Measured({ state }: { state: ShownCarrier['measured'] }) {
  const text = t(`frequencies.measured.${state}`)
  if (state !== 'occupied') return <span className={state === 'free' ? undefined : 'box-note'}>{text}</span>
  return (
    <span className="tag" data-tone="waiting">
      {text}
    </span>
  )
}

function Count({ of }: { of: ConflictCount }) {
  const text = countText(of)
  if (of.count === 0) return <span className="box-note">{text ?? t('parts.unknown')}</span>
  return (
    <span className="tag" data-tone="waiting">
      {text}
    </span>
  )
}
