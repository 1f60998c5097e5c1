import { keepPreviousData, skipToken, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { EventBody } from '../../src/contract/history.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { toIso } from '../app/service-time.ts'
import { slotTitle } from '../app/slot-records.ts'
import type { Watch } from '../app/watch.ts'
import { slotRecordsAt } from '../parts/slots/slot-records-at.ts'
import type { Row } from './use-timeline.ts'

/** The slot and title of that time, where the event has them. */
export function useChannelName({ channel_id, receiver_id, data }: EventBody): string | null {
  const { watch } = useServices()
  return useWatchState(({ receivers }) => {
    if (channel_id === null)
      return receivers.get(receiver_id ?? 0) ? plainText(receivers.get(receiver_id ?? 0)?.name ?? '') : null
    const { slot, title } = data
    if (typeof slot === 'number' && typeof title === 'string') return slotTitle({ slot, title: plainText(title) })
    for (const receiver of receivers.values()) {
      if (receiver.channels.some(({ id }) => id === channel_id))
        return nameOf(watch, { channelId: channel_id, receiverId: receiver.id })
    }
    return t('timeline.removed', { id: channel_id })
  })
}

function nameOf(watch: Pick<Watch, 'facts'>, { channelId, receiverId }: Row): string {
  const facts = watch.facts(receiverId ?? 0, channelId)
  return facts === null ? t('timeline.removed', { id: channelId }) : slotTitle(facts)
}

interface ChannelName {
  readonly slot: number
  readonly title: string
}

export interface Names {
  /** The earlier names are not known, so the current ones are shown. */
  readonly areOfNow: boolean
  /** Null for a channel that was removed. */
  find(row: Row): ChannelName | null
  text(row: Row): string
}

/** `at`: epoch ms; null for the names of now. */
export function useNames(at: number | null): Names {
  const { api, watch } = useServices()
  const slotRecords = useWatchState((watchState) => watchState.slotRecords)
  const performers = useWatchState((watchState) => watchState.performers)
  const time = at === null ? null : toIso(Math.floor(at / 1_000) * 1_000)
  const { data, isPending } = useQuery({
    queryKey: ['names at', time],
    queryFn:
      time === null
        ? skipToken
        : async () => {
            const response = await api.read(`/api/history/at/?${new URLSearchParams({ time })}`, 'object')
            return response.ok ? response.body : null
          },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    placeholderData: keepPreviousData,
  })
  return useMemo(() => {
    const records = time === null || !data ? null : slotRecordsAt(data, { slotRecords, performers })
    const past =
      records &&
      new Map(records.map(({ channel_id, slot, title }) => [channel_id, { slot, title: plainText(title ?? '') }]))
    const find = ({ channelId, receiverId }: Row): ChannelName | null =>
      past?.get(channelId) ?? watch.facts(receiverId ?? 0, channelId)
    return {
      areOfNow: time !== null && past === null && !isPending,
      find,
      text(row) {
        const name = find(row)
        return name === null ? t('timeline.removed', { id: row.channelId }) : slotTitle(name)
      },
    }
  }, [time, data, isPending, slotRecords, performers, watch])
}
