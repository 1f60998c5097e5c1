import type { ScanBody } from '../../src/contract/scans.ts'
import { formatList, formatMegahertz, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import type { FindCarrier } from './conflict-text.ts'
import type { Suggestion, UnplacedReason } from './suggestion.ts'

/** The others are counted. */
const mostNames = 3

/** Says why a carrier does not fit, for example `Spacing, from 1 Nora and 7 Ben`. */
export function reasonText(
  { kind, by }: UnplacedReason,
  find: FindCarrier,
  scans: readonly Pick<ScanBody, 'id' | 'name'>[],
): string {
  if (kind === 'time') return t('frequencies.whatIf.reasons.time')
  if (kind === 'outside_band') return t('frequencies.whatIf.reasons.outsideBand')
  const name = t(`frequencies.kinds.${kind}`)
  if (by.length === 0) return name
  const names = by.slice(0, mostNames).map((id) => sourceName(id, find, scans))
  const others = by.length - names.length
  const listed = others === 0 ? names : [...names, t('frequencies.whatIf.reasons.others', { count: others })]
  return t('frequencies.whatIf.reasons.by', { kind: name, names: formatList(listed) })
}

function sourceName(id: string, find: FindCarrier, scans: readonly Pick<ScanBody, 'id' | 'name'>[]): string {
  const [prefix, rest = ''] = id.split(':')
  if (prefix === 'new') return formatMegahertz(rest)
  if (prefix === 'scan') return plainText(scans.find((scan) => String(scan.id) === rest)?.name ?? rest)
  return find(id).label
}

export function acceptedText(kinds: NonNullable<ReturnType<Suggestion['accepted']['get']>>): string {
  return formatList(kinds.map((kind) => t(`frequencies.kinds.${kind}`)))
}
