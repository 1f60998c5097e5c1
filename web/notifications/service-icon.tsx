import {
  Bell,
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
import type { NotificationChannelType } from '../../src/contract/notification-services.ts'

/** A service without an icon of its own has a bell. */
const icons: Partial<Record<NotificationChannelType, LucideIcon>> = {
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
  const Icon = icons[type] ?? Bell
  return <Icon className="icon" aria-hidden="true" />
}
