/** The addresses of notifications in the REST interface, and when pages read them again. */

export const channelsPath = '/api/admin/notification-channels/'
export const rulesPath = '/api/admin/notification-rules/'
export const deliveriesPath = '/api/admin/notification-deliveries/'

/** The messages after which pages read them again. */
export const notificationTopics = ['notifications'] as const
