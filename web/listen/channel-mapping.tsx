/** The audio stream of a channel. A proposal takes effect only when a person confirms it. */

import { useState } from 'react'
import type { AudioStreamBody } from '../../src/contract/audio-streams.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useResource } from '../app/resource.ts'
import { type StreamChannel, streamsRefreshMs, useAudioMappings } from '../parts/audio-mappings.ts'

export function ChannelMapping({ channelId }: { readonly channelId: number }) {
  const { mappings, proposals, map, isSending, problem } = useAudioMappings()
  const streams = useResource('/api/audio/streams/', 'list', [], streamsRefreshMs)
  const mapping = mappings?.find(({ channel_id }) => channel_id === channelId)
  const proposal = proposals.find(({ channel_id }) => channel_id === channelId)
  const nameOf = (id: number) => plainText(streams.body?.find((stream) => stream.id === id)?.name ?? `#${id}`)
  if (mappings === null) return null
  return (
    <div>
      <h3>{t('listen.mapping')}</h3>
      {mapping === undefined ? (
        <p className="hint">{t('listen.unmapped')}</p>
      ) : (
        <p>
          {t('listen.mapped', { stream: nameOf(mapping.stream_id), channel: mapping.channel })}
          {mapping.label_now === null ? null : ` (${plainText(mapping.label_now)})`}
        </p>
      )}
      {mapping?.label_changed === true ? (
        <p role="alert">
          {t('listen.changed', { before: plainText(mapping.label ?? '–'), now: plainText(mapping.label_now ?? '–') })}
        </p>
      ) : null}
      {proposal === undefined ? null : (
        <p>
          <button
            type="button"
            className="choice"
            aria-disabled={isSending || undefined}
            onClick={() => void map(channelId, { stream_id: proposal.stream_id, channel: proposal.channel })}
          >
            {t('listen.proposal', { stream: nameOf(proposal.stream_id), channel: proposal.channel })}
          </button>{' '}
          {t(`listen.by.${proposal.by}`)}
        </p>
      )}
      {streams.body === null || streams.body.length === 0 ? null : (
        <StreamChoice
          streams={streams.body}
          mapping={mapping ?? null}
          isSending={isSending}
          onSave={(mapped) => void map(channelId, mapped)}
        />
      )}
      {problem === null ? null : <p role="alert">{problem.detail}</p>}
    </div>
  )
}

interface StreamChoiceProps {
  readonly streams: readonly AudioStreamBody[]
  readonly mapping: StreamChannel | null
  readonly isSending: boolean
  onSave(mapped: StreamChannel | null): void
}

/** One list of the channels of all streams. */
function StreamChoice({ streams, mapping, isSending, onSave }: StreamChoiceProps) {
  const keyOf = ({ stream_id, channel }: StreamChannel) => `${stream_id} ${channel}`
  const stored = mapping === null ? '' : keyOf(mapping)
  const [chosen, setChosen] = useState(stored)
  const save = () => {
    const [stream_id = 0, channel = 0] = chosen.split(' ').map(Number)
    onSave(chosen === '' ? null : { stream_id, channel })
  }
  return (
    <div className="list-actions">
      <label>
        {t('listen.map')}{' '}
        <select className="input" value={chosen} onChange={({ target }) => setChosen(target.value)}>
          <option value="">{t('listen.none')}</option>
          {streams.map(({ id, name, channels, labels }) => (
            <optgroup key={id} label={plainText(name)}>
              {Array.from({ length: channels }, (_, index) => index + 1).map((channel) => (
                <option key={channel} value={keyOf({ stream_id: id, channel })}>
                  {t('listen.streamChannel', { channel })}
                  {labels[channel - 1] ? ` (${plainText(labels[channel - 1] ?? '')})` : ''}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </label>
      <button
        type="button"
        className="choice"
        aria-disabled={isSending || chosen === stored || undefined}
        onClick={() => chosen !== stored && !isSending && save()}
      >
        {t('listen.save')}
      </button>
    </div>
  )
}
