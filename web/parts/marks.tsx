/** What is wrong besides: one state wins the frame, and none hides another. */

import type { ChannelFacts, Mark } from '../channel-state.ts'
import { useSurroundings } from '../context.ts'
import { formatTime } from '../format.ts'
import { t } from '../i18n.ts'
import { StateIcon } from './state-icon.tsx'

/** `isFixed`: an overload is shown, and cannot be cleared here. */
export function Marks({ facts, isFixed = false }: { facts: ChannelFacts; isFixed?: boolean }) {
  return (
    <span className="marks">
      {facts.marks.map((mark) => (
        <MarkIcon key={mark} mark={mark} />
      ))}
      <Overload facts={facts} isFixed={isFixed} />
    </span>
  )
}

function MarkIcon({ mark }: { mark: Mark }) {
  return (
    <span className="mark" data-mark={mark} title={t(`flags.${mark}`)}>
      <StateIcon state={mark} />
      <span className="for-listeners">{t(`flags.${mark}`)}</span>
    </span>
  )
}

/** While it lasts, clipping is a state or a mark; afterwards this says when it was, until somebody clears it. */
function Overload({ facts, isFixed }: { facts: ChannelFacts; isFixed: boolean }) {
  const { store } = useSurroundings()
  const { overloadAt, receiverId, channelId } = facts
  if (overloadAt === null || facts.state === 'clipping' || facts.marks.includes('clipping')) return null
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
