# nginx in front of Conduit: any nginx from 1.22 on in a Debian image, with the configurations of infra/compose/nginx. Run from the
# root of the clone:
#
#   docker build -f infra/docker/nginx.Dockerfile -t conduit/nginx .

ARG NGINX=docker.io/library/nginx:1.28-bookworm

FROM ${NGINX}
COPY infra/compose/nginx/*.conf /etc/conduit/nginx/
COPY infra/docker/nginx-start /usr/local/bin/conduit-nginx
EXPOSE 8080
USER 65532:65532
# Workers finish the requests under way.
STOPSIGNAL SIGQUIT
# It answers at all; what it answers is the services' affair.
HEALTHCHECK --interval=5s --timeout=6s --start-period=30s --retries=3 CMD ["/usr/local/bin/conduit-nginx", "health"]
ENTRYPOINT ["/usr/local/bin/conduit-nginx"]
