import type { SourceBody } from '../../../src/contract/live-messages.ts'
import type { ReceiverInData } from '../../../src/contract/receivers.ts'
import { recordOfSite } from '../../../src/domain/equipment/sites.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'

type Located = Pick<ReceiverInData, 'manufacturer' | 'ip' | 'site'>

/** Receivers of a site belong to the record that follows it. */
export function recordOf({ manufacturer, site }: Pick<Located, 'manufacturer' | 'site'>): string {
  return site === null ? manufacturer : recordOfSite(site.code)
}

/** While `reporting` is empty, the source at the receiver's address, otherwise all sources of its manufacturer. */
export function sourcesOf(
  receiver: Located,
  sources: readonly SourceBody[],
  reporting: readonly string[],
): readonly SourceBody[] {
  const { ip } = receiver
  const record = recordOf(receiver)
  const own = sources.filter(({ code }) => code === record)
  const known = own.filter(({ address }) => reporting.includes(address))
  if (known.length > 0) return known
  const direct = own.filter(({ address }) => ip !== null && hostOf(address) === ip)
  return direct.length > 0 ? direct : own
}

/** The error of a source if all sources of the receiver fail, otherwise the receiver itself. */
export function offlineReason(sources: readonly SourceBody[]): string {
  const failing = sources.filter(({ status }) => status === 'degraded' || status === 'unhealthy')
  const [first] = failing
  if (first === undefined || failing.length < sources.length) return t('receiver.noResponse')
  const { address, error } = first
  return error === null
    ? t('receiver.sourceFails', { address })
    : t('receiver.sourceFailsWith', { address, error: plainText(error) })
}

function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).hostname : address
}
