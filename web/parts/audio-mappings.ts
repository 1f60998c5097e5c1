import type { ChannelAudioBody } from '../../src/contract/listening.ts'
import { useServices } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { useRequest, useResource } from '../app/resource.ts'
import { useShowMessage } from './dialogs/messages.tsx'

export type StreamChannel = Pick<ChannelAudioBody, 'stream_id' | 'channel'>

/** No message announces that a stream was found, was changed or has gone. */
export const streamsRefreshMs = 5000
const topics = ['audio_mappings'] as const

/** The mappings of channels to streams, and proposals, which take effect only when a person confirms them. */
export function useAudioMappings() {
  const { api } = useServices()
  const mappings = useResource('/api/audio/mappings/', 'list', topics, streamsRefreshMs)
  const proposals = useResource('/api/audio/proposals/', 'list', topics, streamsRefreshMs)
  const showMessage = useShowMessage()
  const { send, isSending, problem } = useRequest()
  /** Null removes the mapping. */
  const map = async (channelId: number, mapped: StreamChannel | null) => {
    const response = await send(() => api.write('PUT', `/api/channels/${channelId}/audio/`, mapped, 'object'))
    if (response?.ok !== true) return
    showMessage({ text: t('listen.saved') })
    await Promise.all([mappings.reload(), proposals.reload()])
  }
  return { mappings: mappings.body, proposals: proposals.body ?? [], map, isSending, problem }
}
