import type { FrequencyConflictBody } from '../../src/contract/frequencies.ts'
import { criticalConflictKinds, type Severity, severities } from '../../src/contract/values.ts'
import { formatDbm } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import type { ShownCarrier } from './carriers.ts'

/** Generators can be carriers that a filter hides. */
export type NamedCarrier = Pick<ShownCarrier, 'label' | 'state' | 'noise_dbm'> & {
  readonly mhz: string | null
}

export type FindCarrier = (id: string) => NamedCarrier

type Kind = FrequencyConflictBody['kind']

const formulas: Readonly<Partial<Record<Kind, readonly number[]>>> = {
  '2t3o': [2, -1],
  '3t3o': [1, 1, -1],
  '2t5o': [3, -2],
  '2t7o': [4, -3],
  '2t9o': [5, -4],
}

/** For example `2 × (7 Nora) − (8 Ben)`. */
export function formulaText(kind: Kind, generators: readonly string[]): string {
  const factors = formulas[kind] ?? []
  return generators
    .map((name, index) => {
      const factor = factors[index] ?? 1
      const term = Math.abs(factor) === 1 ? name : `${Math.abs(factor)} × ${name}`
      if (index === 0) return term
      return factor < 0 ? `− ${term}` : `+ ${term}`
    })
    .join(' ')
}

/** Names the victim and the cause. */
export function conflictText(conflict: FrequencyConflictBody, find: FindCarrier): string {
  const { kind, victim, offset_khz, guard_khz } = conflict
  const carrier = find(victim)
  const name = nameWithMhz(carrier)
  const generators = conflict.generators.map((id) => find(id).label)
  const values = {
    victim: name,
    other: generators[0] ?? '',
    product: formulaText(
      kind,
      generators.map((name) => `(${name})`),
    ),
    offset: Math.abs(offset_khz ?? 0),
    guard: guard_khz ?? 0,
    level: carrier.noise_dbm === null ? '' : formatDbm(carrier.noise_dbm),
  }
  switch (kind) {
    case 'duplicate':
      return t('frequencies.conflicts.duplicate', values)
    case 'spacing':
      return t('frequencies.conflicts.spacing', values)
    case 'tv':
      return t('frequencies.conflicts.tv', values)
    case 'occupied':
      return t('frequencies.conflicts.occupied', {
        victim: name,
        level: formatDbm(conflict.dbm ?? 0),
        mhz: conflict.mhz ?? '',
      })
    case 'peak':
      return t('frequencies.conflicts.spacing', values)
    case 'outside_band':
      return t('frequencies.conflicts.outsideBand', values)
    case 'foreign':
      return t(values.level === '' ? 'frequencies.conflicts.foreign' : 'frequencies.conflicts.foreignLevel', values)
    default:
      return t(offset_khz === 0 ? 'frequencies.conflicts.productOn' : 'frequencies.conflicts.product', values)
  }
}

function nameWithMhz({ label, mhz }: NamedCarrier): string {
  return mhz === null ? label : t('frequencies.nameWithMhz', { name: label, mhz })
}

const peakPrefix = 'peak:'

/** The name of a peak as a generator; null for the id of a carrier. */
export function findPeak(id: string): NamedCarrier | null {
  const mhz = peakMhzOf(id)
  return mhz === null ? null : { label: t('frequencies.peakAt', { mhz }), mhz: null, state: 'on', noise_dbm: null }
}

function peakMhzOf(id: string): string | null {
  return id.startsWith(peakPrefix) ? id.slice(peakPrefix.length) : null
}

/** Returns where the spectrum shows a conflict besides its carriers; null if nowhere. */
export function markedMhz({ kind, product_mhz, generators, mhz }: FrequencyConflictBody): string | null {
  if (kind === 'peak') return peakMhzOf(generators[0] ?? '')
  return mhz ?? product_mhz
}

/** From conflicts that disturb at once to unlikely ones. */
const kindsBySeverity: readonly Kind[] = [
  ...criticalConflictKinds,
  ...(['occupied', 'peak', '2t3o', '3t3o', 'tv', 'outside_band', '2t5o', '2t7o', '2t9o'] as const),
]

export function isActive({ victim, generators }: FrequencyConflictBody, find: FindCarrier): boolean {
  return [victim, ...generators].every((id) => find(id).state === 'on')
}

export function severityOf({ kind }: FrequencyConflictBody): Severity {
  if (criticalConflictKinds.some((critical) => critical === kind)) return 'critical'
  return kindsBySeverity.indexOf(kind) <= kindsBySeverity.indexOf('outside_band') ? 'warning' : 'info'
}

/** By colour, active ones first, then by kind and by the remaining share of the guard. */
export function sortConflicts(
  conflicts: readonly FrequencyConflictBody[],
  find: FindCarrier,
): readonly FrequencyConflictBody[] {
  const ranked = conflicts.map((conflict) => ({
    conflict,
    rank: [
      -severities.indexOf(severityOf(conflict)),
      isActive(conflict, find) ? 0 : 1,
      kindsBySeverity.indexOf(conflict.kind),
      conflict.guard_khz === null ? 0 : Math.abs(conflict.offset_khz ?? 0) / Math.max(1, conflict.guard_khz),
    ],
  }))
  ranked.sort((a, b) => {
    const index = a.rank.findIndex((value, position) => value !== b.rank[position])
    return index < 0 ? 0 : (a.rank[index] ?? 0) - (b.rank[index] ?? 0)
  })
  return ranked.map(({ conflict }) => conflict)
}

export function conflictKey({ victim, kind, generators, product_mhz, offset_khz }: FrequencyConflictBody): string {
  // A channel with two carriers can be hit twice by products of the same channels.
  return [kind, victim, ...generators, product_mhz, offset_khz].join(' ')
}

/** The list of conflicts may be truncated. */
export interface ConflictCount {
  readonly count: number
  readonly isComplete: boolean
}

/** `12+` if there may be more; null if nothing is known. */
export function countText({ count, isComplete }: ConflictCount): string | null {
  if (isComplete) return String(count)
  return count === 0 ? null : `${count}+`
}
