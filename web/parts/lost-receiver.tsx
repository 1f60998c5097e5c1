/** In place of the meters: which receiver does not answer, and since when. */

import type { ChannelFacts } from '../channel-state.ts'
import { formatTime } from '../format.ts'
import { words } from '../words.ts'
import { Age } from './age.tsx'

export function LostReceiver({ facts }: { facts: ChannelFacts }) {
  const hardware = [facts.receiverModel, facts.receiverIp].filter((part) => part !== null).join(' · ')
  return (
    <div className="lost">
      <span className="lost-line">
        <span className="lost-what">{words.card.lost}</span>
        {facts.since === null ? null : (
          <span title={`${words.card.lastSeen} ${formatTime(facts.since)}`}>
            <span className="for-listeners">{words.card.lastSeen} </span>
            <Age since={facts.since} isShort={true} /> {words.card.ago}
          </span>
        )}
      </span>
      <bdi className="lost-hardware">{hardware}</bdi>
    </div>
  )
}
