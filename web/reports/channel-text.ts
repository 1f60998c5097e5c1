/** How documents name channels and kinds of alerts. */

import { type AlertKind, alertKinds } from '../../src/contract/alert-kinds.ts'
import type { ReportedChannel } from '../../src/contract/resources/reports.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'

/** Returns the slot and the name: that of the performer, otherwise of the channel. */
export function channelText(channel: Pick<ReportedChannel, 'slot' | 'name' | 'performer' | 'channel_id'>): string {
  const name = nameOf(channel)
  return channel.slot === null ? name : `${channel.slot} ${name}`
}

export function nameOf({ performer, name }: Pick<ReportedChannel, 'name' | 'performer'>): string {
  return plainText(performer ?? name ?? t('card.noName'))
}

export function alertKindText(kind: string): string {
  const known = alertKinds.find((each): each is AlertKind => each === kind)
  return known === undefined ? kind : t(`alerts.kinds.${known}`)
}
