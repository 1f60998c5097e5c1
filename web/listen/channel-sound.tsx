/** The sound of a channel on its page: who listens, "Not now", and the audio stream. */

import { Ear, EarOff } from 'lucide-react'
import type { ChannelBody } from '../../src/contract/channels.ts'
import type { ChannelFacts } from '../app/channel-state.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { formatMoment, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useRequest, useResource } from '../app/resource.ts'
import { useMay } from '../app/session.ts'
import { ListenButton } from '../parts/card/listen-button.tsx'
import { ChannelMapping } from './channel-mapping.tsx'

interface ChannelSoundProps {
  readonly facts: ChannelFacts
  readonly channel: ChannelBody
}

export function ChannelSound({ facts, channel }: ChannelSoundProps) {
  const listeners = useWatchState((watchState) => watchState.listeners)
  const mayMap = useMay('administer')
  if (facts.site !== null) return null
  return (
    <section className="detail-part">
      <h2>{t('listen.title')}</h2>
      {listeners === null ? (
        <p className="hint">{t('listen.off')}</p>
      ) : (
        <Listeners listeners={listeners.filter(({ channel_id }) => channel_id === channel.id)} />
      )}
      <div className="list-actions">
        <ListenButton facts={facts} />
        <NotNow channel={channel} />
      </div>
      {mayMap ? <ChannelMapping channelId={channel.id} /> : <MappedTo channelId={channel.id} />}
    </section>
  )
}

function Listeners({
  listeners,
}: {
  readonly listeners: readonly { readonly id: number; readonly by: string; readonly since: string }[]
}) {
  if (listeners.length === 0) return <p className="hint">{t('listen.nobody')}</p>
  return (
    <ul>
      {listeners.map(({ id, by, since }) => (
        <li key={id}>
          <Ear className="icon" aria-hidden="true" /> <bdi>{plainText(by)}</bdi>{' '}
          {t('listen.since', { time: formatMoment(since) })}
        </li>
      ))}
    </ul>
  )
}

/** For operators a switch, for others a note. */
function NotNow({ channel: { id, not_now } }: Pick<ChannelSoundProps, 'channel'>) {
  const { api } = useServices()
  const mayOperate = useMay('operate')
  const { send, isSending, problem } = useRequest()
  const isSet = not_now !== null
  const change = () => void send(() => api.write('PUT', `/api/channels/${id}/not-now/`, { not_now: !isSet }, 'object'))
  return (
    <>
      {mayOperate ? (
        <button
          type="button"
          className="choice"
          aria-disabled={isSending || undefined}
          title={t('listen.notNowHint')}
          onClick={change}
        >
          {isSet ? <Ear className="icon" aria-hidden="true" /> : <EarOff className="icon" aria-hidden="true" />}
          {t(isSet ? 'listen.allow' : 'listen.notNow')}
        </button>
      ) : null}
      {isSet ? (
        <p className="hint">
          <EarOff className="icon" aria-hidden="true" /> {t('card.notNowBy', { name: plainText(not_now.by) })}{' '}
          {not_now.until === null ? null : t('listen.until', { time: formatMoment(not_now.until) })}
        </p>
      ) : null}
      {problem === null ? null : <p role="alert">{problem.detail}</p>}
    </>
  )
}

function MappedTo({ channelId }: { readonly channelId: number }) {
  const mappings = useResource('/api/audio/mappings/', 'list', ['audio_mappings']).body
  const mapping = mappings?.find(({ channel_id }) => channel_id === channelId)
  if (mappings === null) return null
  if (mapping === undefined) return <p className="hint">{t('listen.unmapped')}</p>
  const { label_now, channel } = mapping
  return <p className="hint">{label_now === null ? t('listen.streamChannel', { channel }) : plainText(label_now)}</p>
}
