/** Announces shows that have changed, in this process or another one, to clients of both versions. */

import { listShowChanges, type Show } from '../domain/shows.ts'
import type { StoredLists } from '../lists/stored-lists.ts'
import type { LivePublisher } from './live-publisher.ts'
import type { Feed } from './version-1.ts'

interface ShowAnnouncementDeps {
  readonly lists: Pick<StoredLists, 'current'>
  readonly feed: Pick<Feed, 'publish'>
  readonly live: Pick<LivePublisher, 'showChanged'>
}

/** Returns a function to be called after the lists have changed. */
export function createShowAnnouncements({ lists, feed, live }: ShowAnnouncementDeps): () => void {
  let announced: readonly Show[] = []
  return () => {
    const { shows } = lists.current
    for (const show of listShowChanges(announced, shows)) {
      feed.publish({ type: 'show_update', show }, null)
      live.showChanged(show)
    }
    announced = shows
  }
}
