# One domain of Hearth, on a PostgreSQL of its own that HEARTH_DATABASE_URL names (the embedded one is left out here).
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY patches patches
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src src
RUN npx tsc -p tsconfig.build.json && npm prune --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM node:24-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY migrations migrations
# What the doors show at /openapi.json and /docs.
COPY spec/openapi spec/openapi
COPY spec/openapi spec/openapi
# The key that private keys are encrypted under is made here at the first start, if no other is given: keep the volume.
RUN install -d -o node -g node -m 0700 /data \
  && printf '#!/bin/sh\nexec node /app/dist/cli/hearth.js "$@"\n' > /usr/local/bin/hearth \
  && chmod 0755 /usr/local/bin/hearth
ENV HEARTH_DATA_DIRECTORY=/data
VOLUME /data
USER node
# The federation door, and the private door (agent and admin API).
EXPOSE 7420 7421
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:7421/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["hearth"]
CMD ["start"]
