import type { Alert, AlertMarks } from '../domain/alerts/alert.ts'
import type { AlertSettings } from '../domain/alerts/alert-settings.ts'
import type { Cause } from '../domain/alerts/compare-causes.ts'
import { channelsOfAlert, isSilenced } from '../domain/alerts/silences.ts'
import { hasRunningShow, isSnoozeOver, lastStartOf } from '../domain/alerts/snooze.ts'
import type { AlertSurroundings } from '../domain/notifications/surroundings.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { EffectiveSettings } from '../lists/effective-settings.ts'
import type { SlotRecords } from '../lists/slot-records.ts'
import type { StoredLists } from '../lists/stored-lists.ts'
import { now } from '../platform/clock.ts'
import type { ReceiverSources } from '../sources/receiver-sources.ts'

/** Settings, silences, shows and more general problems that apply to an alert. */
export class AlertContext {
  readonly #receiverStore: ReceiverStore
  readonly #settings: EffectiveSettings
  readonly #lists: StoredLists
  readonly #receiverSources: ReceiverSources
  readonly #slotRecords: SlotRecords

  constructor(
    receiverStore: ReceiverStore,
    settings: EffectiveSettings,
    lists: StoredLists,
    receiverSources: ReceiverSources,
    slotRecords: SlotRecords,
  ) {
    this.#receiverStore = receiverStore
    this.#settings = settings
    this.#lists = lists
    this.#receiverSources = receiverSources
    this.#slotRecords = slotRecords
  }

  settingsOf(subject: Alert | Cause): AlertSettings {
    const slots = this.#channelsOf(subject).map(({ slot }) => slot)
    return this.#settings.alertSettings(subject.kind, { manufacturer: subject.manufacturer, slots })
  }

  isSilenced(alert: Alert): boolean {
    const { silences, groups } = this.#lists.current
    if (alert.state === 'cleared' || silences.length === 0) return false
    return isSilenced(alert, this.#channelsOf(alert), { silences, groups })
  }

  marksOf(alert: Alert): AlertMarks {
    return { isSilenced: this.isSilenced(alert), titleNow: this.#titleNow(alert) }
  }

  surroundingsOf(alert: Alert): AlertSurroundings {
    const { silences, groups } = this.#lists.current
    const context = this.#showContext(alert)
    const { channels } = context
    const receiver = alert.receiver_id === null ? undefined : this.#receiverStore.get(alert.receiver_id)
    const isOffline = receiver?.is_active === false && alert.channel_id !== null
    const slots = new Set(channels.map(({ slot }) => slot))
    return {
      isSilenced: isSilenced(alert, channels, { silences, groups }),
      isInhibited: receiver !== undefined && (isOffline || this.#receiverSources.areFailing(receiver)),
      groupIds: groups.flatMap((group) => (group.slots.some((slot) => slots.has(slot)) ? group.id : [])),
      showStartedAt: lastStartOf(alert, context),
    }
  }

  hasRunningShow(alert: Alert): boolean {
    return hasRunningShow(alert, this.#showContext(alert))
  }

  isSnoozeOver(alert: Alert): boolean {
    return isSnoozeOver(alert, now(), this.#showContext(alert))
  }

  #channelsOf(subject: Alert | Cause) {
    const { receiver_id } = subject
    return channelsOfAlert(subject, receiver_id === null ? undefined : this.#receiverStore.facts(receiver_id))
  }

  /** The titles of a followed site are its own. */
  #titleNow({ state, site, receiver_id, channel_id, data }: Alert): string | undefined {
    if (state === 'cleared' || site !== null || channel_id === null || data.title == null) return undefined
    const receiver = this.#receiverStore.facts(receiver_id ?? 0)
    const channel = receiver?.channels.find(({ id }) => id === channel_id)
    if (receiver === undefined || channel === undefined) return undefined
    const { title } = this.#slotRecords.titleOf(receiver, channel)
    return title === null || title === data.title ? undefined : title
  }

  #showContext(alert: Alert) {
    const { groups } = this.#lists.current
    return { runningShows: this.#lists.runningShows(), groups, channels: this.#channelsOf(alert) }
  }
}
