import type { EventBody } from '../../src/contract/history.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { slotTitle } from '../app/slot-records.ts'
import type { Watch } from '../app/watch.ts'
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

export function nameOf(watch: Pick<Watch, 'facts'>, { channelId, receiverId }: Row): string {
  const facts = watch.facts(receiverId ?? 0, channelId)
  return facts === null ? t('timeline.removed', { id: channelId }) : slotTitle(facts)
}
