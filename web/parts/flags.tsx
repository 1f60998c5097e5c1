/** The flags of a channel: all conditions besides the displayed state. */

import type { ChannelFacts, Flag } from '../channel-state.ts'
import { useServices } from '../context.ts'
import { formatTime } from '../format.ts'
import { t } from '../i18n.ts'
import { StateIcon } from './state-icon.tsx'

/** If `isFixed`, an overload is displayed but cannot be cleared. */
export function Flags({ facts, isFixed = false }: { facts: ChannelFacts; isFixed?: boolean }) {
  return (
    <span className="flags">
      {facts.flags.map((flag) => (
        <FlagIcon key={flag} flag={flag} />
      ))}
      <Overload facts={facts} isFixed={isFixed} />
    </span>
  )
}

function FlagIcon({ flag }: { flag: Flag }) {
  return (
    <span className="flag" data-flag={flag} title={t(`flags.${flag}`)}>
      <StateIcon state={flag} />
      <span className="visually-hidden">{t(`flags.${flag}`)}</span>
    </span>
  )
}

/** The last overload and its time, until a user clears it. While the channel clips, the state or a flag shows it. */
function Overload({ facts, isFixed }: { facts: ChannelFacts; isFixed: boolean }) {
  const { store } = useServices()
  const { overloadAt, receiverId, channelId } = facts
  if (overloadAt === null || facts.state === 'clipping' || facts.flags.includes('clipping')) return null
  const time = formatTime(overloadAt)
  const text = (
    <span className="overload-text">
      {t('card.overload')} <span className="overload-time">{time}</span>
    </span>
  )
  if (isFixed) return <span className="overload">{text}</span>
  const clear = () => store.dispatch({ type: 'overload_cleared', receiverId, channelId, at: Date.now() })
  return (
    <button type="button" className="overload" onClick={clear} title={t('card.clearOverload', { time })}>
      {text}
    </button>
  )
}
