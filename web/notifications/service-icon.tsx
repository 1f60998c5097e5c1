import {
  BellRing,
  Hash,
  type LucideIcon,
  Mail,
  Megaphone,
  MessageCircle,
  MessageSquare,
  RadioTower,
  Send,
  UsersRound,
  Webhook,
} from 'lucide-react'
import type { NotificationChannelType } from '../../src/contract/values.ts'

const icons: Record<NotificationChannelType, LucideIcon> = {
  email: Mail,
  webhook: Webhook,
  ntfy: BellRing,
  slack: Hash,
  teams: UsersRound,
  discord: MessageCircle,
  telegram: Send,
  gotify: MessageSquare,
  apprise: Megaphone,
  mqtt: RadioTower,
}

export function ServiceIcon({ type }: { type: NotificationChannelType }) {
  const Icon = icons[type]
  return <Icon className="icon" aria-hidden="true" />
}
