import { Ear, EarOff, Square } from 'lucide-react'
import type { ChannelFacts } from '../../app/channel-state.ts'
import { useWatchState } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { useListening } from '../../app/listening.ts'
import { slotTitle } from '../../app/slot-records.ts'

/** For users who may listen, on channels that are mapped to an audio stream. */
export function ListenButton({ facts }: { readonly facts: ChannelFacts }) {
  const { channelId } = facts
  const isMapped = useListening((player) => player?.mapped.has(channelId) === true)
  const isPlaying = useListening((player) => player?.channelId === channelId)
  const toggle = useListening((player) => player?.toggle)
  if (!isMapped || toggle === undefined || (facts.notNowBy !== null && !isPlaying)) return null
  const Icon = isPlaying ? Square : Ear
  return (
    <button
      type="button"
      className="card-acknowledge"
      aria-keyshortcuts="L"
      aria-label={t(isPlaying ? 'card.stopListeningTo' : 'card.listenTo', { name: slotTitle(facts) })}
      onClick={() => toggle(channelId)}
    >
      <Icon className="icon" aria-hidden="true" />
      {t(isPlaying ? 'card.stop' : 'card.listen')}
    </button>
  )
}

/** A crossed ear while "Not now" is set, and an ear while someone listens. */
export function SoundMark({ facts: { channelId, notNowBy } }: { readonly facts: ChannelFacts }) {
  const names = useWatchState(({ listeners }) =>
    (listeners ?? [])
      .filter((listener) => listener.channel_id === channelId)
      .map(({ by }) => plainText(by))
      .join(', '),
  )
  if (notNowBy === null && names === '') return null
  const Icon = notNowBy === null ? Ear : EarOff
  const text = notNowBy === null ? t('card.listening', { names }) : t('card.notNowBy', { name: notNowBy })
  return (
    <span className="sound-mark" data-not-now={notNowBy !== null || undefined} title={text}>
      <Icon className="icon" aria-hidden="true" />
      <span className="visually-hidden">{text}</span>
    </span>
  )
}
