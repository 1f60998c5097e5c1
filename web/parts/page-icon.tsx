import {
  Archive,
  AudioLines,
  BellRing,
  Cable,
  ClipboardPaste,
  FileClock,
  Inbox,
  KeyRound,
  type LucideIcon,
  MapPinned,
  Move,
  Radar,
  Rows3,
  Server,
  Settings2,
  SquareStack,
  Undo2,
  UserRound,
  UsersRound,
} from 'lucide-react'
import type { SectionPage } from '../../src/domain/pages.ts'

const icons: Record<SectionPage, LucideIcon> = {
  queue: Inbox,
  movements: Move,
  connections: Cable,
  layout: MapPinned,
  groups: SquareStack,
  performers: UserRound,
  cast: ClipboardPaste,
  undo: Undo2,
  find: Radar,
  manufacturers: Rows3,
  streams: AudioLines,
  settings: Settings2,
  notifications: BellRing,
  backups: Archive,
  nodes: Server,
  people: UsersRound,
  tokens: KeyRound,
  audit: FileClock,
}

export function PageIcon({ page }: { page: SectionPage }) {
  const Icon = icons[page]
  return <Icon className="icon" aria-hidden="true" />
}
